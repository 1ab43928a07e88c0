package sandbox

import (
	"fmt"
	"os"
	"time"
)

// watched is how often the memory is looked at: in between, a work makes some ten megabytes.
const watched = 10 * time.Millisecond

// watch ends the process when its values take more than they may, with the words of the runtime,
// by which the server knows. It is for systems that do not bound the memory of a process.
func watch(memory uint64) {
	for range time.Tick(watched) {
		if mapped() > memory {
			fmt.Fprintln(os.Stderr, "sandbox: out of memory")
			os.Exit(2)
		}
	}
}
