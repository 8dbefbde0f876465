// Command fake stands for the commands of a list in tests. It appends its arguments to the file calls, prints the
// second one, and then does what the first one says.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	file, err := os.OpenFile("calls", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGTERM)
	fmt.Fprintln(file, strings.Join(os.Args[1:], " "))
	fmt.Println("begin\n" + os.Args[2])
	switch os.Args[1] {
	case "fail":
		os.Exit(3)
	case "wait":
		select {
		case <-received:
			fmt.Println("saved")
			os.Exit(130)
		case <-time.After(time.Minute):
		}
	}
}
