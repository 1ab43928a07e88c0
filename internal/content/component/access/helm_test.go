package access

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"go.landscaper.dev/internal/base/yamltext"
)

// bomb is a short text that stands for billions of values.
func bomb() string {
	var text strings.Builder
	text.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		alias := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&text, "a%d: &a%d [%s]\n", i, i, strings.Join([]string{alias, alias, alias, alias, alias, alias, alias, alias, alias, alias}, ", "))
	}
	return text.String()
}

// TestChartIndexIsHostile: the index of a chart repository is whatever its server
// wants.
func TestChartIndexIsHostile(t *testing.T) {
	for _, test := range []struct{ reason, index, want string }{
		{"an honest one", "apiVersion: v1\nentries:\n  a:\n  - {version: 1.0.0, urls: [a.tgz], version: 1.0.0}\n", ""},
		{"aliases of aliases", bomb() + "entries: {a: *a9}\n", "the text has more than"},
		{"very many values", "entries: [" + strings.Repeat("a,", 2_000_000) + "]", "the text has more than"},
		{"a very long text", "# " + strings.Repeat("x", 17<<20), "16777216"},
		{"an anchor in itself", "entries: &a {a: *a}", "an anchor contains itself"},
		{"no YAML", "entries: [", "decode the index"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "index.yaml") {
					_, _ = w.Write([]byte(test.index))
					return
				}
				_, _ = w.Write([]byte("chart"))
			}))
			defer server.Close()
			reader := &Reader{HTTP: newClient(true)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			data, _, err := reader.Read(t.Context(), inline(t, nil), resource(`{"type":"helm","helmRepository":"`+server.URL+`","helmChart":"a:1.0.0"}`), 100)
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 512<<20 {
				t.Errorf("%d MiB were allocated", allocated>>20)
			}
			if test.want == "" {
				if err != nil || string(data) != "chart" {
					t.Errorf("%q, %v", data, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// FuzzChartIndex: whatever an index is, reading it ends.
func FuzzChartIndex(f *testing.F) {
	f.Add([]byte("entries: {a: [{version: 1.0.0, urls: [a.tgz]}]}"))
	f.Add([]byte(bomb()))
	f.Fuzz(func(t *testing.T, data []byte) {
		var index chartIndex
		var wrong *yamltext.Error
		err := yamltext.Unmarshal(data, chartIndexLimits(), &index)
		if errors.As(err, &wrong) && len(data) > 20 && bytes.Contains([]byte(wrong.Error()), data) {
			t.Errorf("the message shows the text: %v", err)
		}
	})
}
