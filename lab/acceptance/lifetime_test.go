package acceptance

import (
	"context"
	"fmt"
	"os"
)

// beOwner brings a lab up, owned by this process, says so and waits to be killed.
func beOwner(name string) {
	l, err := up(context.Background(), name, "--clusters", "one", "--with", "registry,git")
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("up", l.PID)
	select {}
}
