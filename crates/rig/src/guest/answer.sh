# Takes the number of a script by the second serial line, runs it, and answers with the number and its exit code.
cd /root
b=/run/busybox
$b stty -F /dev/ttyS1 raw -echo
exec 3<>/dev/ttyS1
echo ready >&3
while read -r word <&3; do
    case $word in
    off) $b poweroff -f ;;
    esac
    /bin/sh /out/$word.sh </dev/null >/out/$word.out 2>/out/$word.err 3>&-
    echo "done $word $?" >&3
done
