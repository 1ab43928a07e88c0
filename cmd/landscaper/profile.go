//go:build profile

package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
)

// init lets the program write a profile of its CPU to the file that PROFILE names: from
// one SIGUSR1 to the next. Only a program that is built for it listens; see
// docs/performance.md.
func init() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		for {
			<-signals
			if err := profile(os.Getenv("PROFILE"), signals); err != nil {
				fmt.Fprintln(os.Stderr, "profile:", err)
			}
		}
	}()
}

// profile writes a profile until a signal comes.
func profile(file string, end <-chan os.Signal) error {
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("create the file that PROFILE names: %w", err)
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	<-end
	pprof.StopCPUProfile()
	return out.Close()
}
