package landscape

import (
	"bytes"
	"fmt"
	"os"
	"sync"
)

// output collects what a process says, in memory or in a file.
type output struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
	file   string
}

func newOutput(file string) (*output, error) {
	if file != "" {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return nil, fmt.Errorf("make the log of the server: %w", err)
		}
	}
	return &output{file: file}, nil
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.file == "" {
		return o.buffer.Write(p)
	}
	log, err := os.OpenFile(o.file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		// The directory may be deleted before the server ends; that must not end the server.
		return len(p), nil //nolint:nilerr // see above
	}
	defer log.Close() //nolint:errcheck // Write reports what matters
	return log.Write(p)
}

// String is everything so far.
func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.file == "" {
		return o.buffer.String()
	}
	content, err := os.ReadFile(o.file)
	if err != nil {
		return err.Error()
	}
	return string(content)
}
