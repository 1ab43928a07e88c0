package process

import (
	"strings"
	"testing"
)

func TestLogFormat(t *testing.T) {
	for format, want := range map[string]bool{"text": true, "json": true, "": false, "jsn": false, "JSON": false} {
		_, err := NewLogger(format, "error")
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "use text or json") {
			t.Errorf("%q: %v", format, err)
		}
	}
}
