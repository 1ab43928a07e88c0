package e2e

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTraces shows that a job is reported to a collector, as one trace through all kinds.
func TestTraces(t *testing.T) {
	sent := make(chan string, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		sent <- request.URL.Path + string(body)
	}))
	defer collector.Close()
	startServer(t, env.ServerKubeconfig, "--trace-endpoint", collector.URL)
	inst := waitSucceeded(t, create(t, newInstallation(namespace(t), "traced", oneConfigMap)))
	id, err := hex.DecodeString(strings.ReplaceAll(inst.Status.JobID, "-", ""))
	if err != nil {
		t.Fatal(err)
	}
	// IDs and texts are in an OTLP message as they are. There are three objects with at
	// least two stages each, and the request that creates the ConfigMap.
	const spans = 3*(1+2) + 1
	wanted := []string{"Installation", "Execution", "DeployItem", "preparing", "succeeded", "traced", "request", "create"}
	var all string
	missing := func(text string) bool { return !strings.Contains(all, text) }
	late := time.After(waitLimit)
	for strings.Count(all, string(id)) < spans || slices.ContainsFunc(wanted, missing) {
		select {
		case text := <-sent:
			if !strings.HasPrefix(text, "/v1/traces") {
				t.Errorf("sent to %.20s", text)
			}
			all += text
		case <-late:
			t.Fatalf("%d spans of %d have the ID of the job, and not all of %q are reported", strings.Count(all, string(id)), spans, wanted)
		}
	}
}
