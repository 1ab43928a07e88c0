package cli

import (
	"testing"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestLogOfTheLibrary: after half a minute, the library for controllers prints a stack trace
// if nobody has said where its log goes. Until then its logger is not enabled.
func TestLogOfTheLibrary(t *testing.T) {
	t.Cleanup(func() { setVerbosity(1); klog.ClearLogger() })
	if setVerbosity(2); !log.Log.Enabled() {
		t.Error("nobody has said where the log goes")
	}
	if setVerbosity(1); log.Log.GetSink() == nil {
		t.Error("the log leads nowhere")
	}
}
