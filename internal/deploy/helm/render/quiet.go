package render

import (
	"io"
	"log"
	"runtime"
	"strings"
	"sync"
)

// library is the part of Helm that merges values. It reports misfits to the logger of the process,
// together with the values.
const library = "helm.sh/helm/v4/pkg/chart/"

// hushed lets everything through to the logger of the process but what Helm says about values: that
// is reported to the owner of the item, without the values.
type hushed struct{ to io.Writer }

// Write implements io.Writer. The logger calls it where the line was written.
func (h hushed) Write(line []byte) (int, error) {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, library) {
			return len(line), nil
		}
		if !more {
			return h.to.Write(line) // the logger of the process asks
		}
	}
}

// hush keeps values out of the log of this process.
var hush = sync.OnceFunc(func() { log.SetOutput(hushed{log.Writer()}) })
