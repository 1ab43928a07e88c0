package cluster

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
)

// libraryLog has what the library logs. It is set before anything runs and stays: watches
// log when they like, and to exchange the logger under them would be a race.
var libraryLog sink

func TestMain(m *testing.M) {
	klog.SetLogger(funcr.New(libraryLog.write, funcr.Options{Verbosity: 10}))
	os.Exit(m.Run())
}

// sink keeps log lines until a test takes them.
type sink struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (s *sink) write(prefix, args string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.text.WriteString(prefix + args + "\n")
}

// take returns what was logged since it was called last.
func (s *sink) take() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	defer s.text.Reset()
	return s.text.String()
}
