package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const log = `{"stage":"ResponseComplete","verb":"get","user":{"username":"a"},"objectRef":{"resource":"deployments","apiGroup":"apps","subresource":"status","namespace":"n","name":"d"},"responseStatus":{"code":200}}
{"stage":"ResponseStarted","verb":"watch","user":{"username":"a"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200}}
{"stage":"ResponseComplete","verb":"watch","user":{"username":"a"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200}}
{"stage":"ResponseStarted","verb":"get","user":{"username":"a"},"objectRef":{"resource":"pods","subresource":"log"}}
{"stage":"Panic","verb":"create","user":{"username":"a"},"requestURI":"/api/v1/namespaces/n/pods?dryRun=All&pretty=true","objectRef":{"resource":"pods"},"responseStatus":{"code":500}}
{"stage":"ResponseComplete","verb":"get","user":{"username":"admin"},"impersonatedUser":{"username":"b"},"requestURI":"/version","responseStatus":{"code":200}}
{"stage":"ResponseComplete","verb":"get","user":{"userna`

func write(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEachRequestCountsOnce(t *testing.T) {
	var got []Request
	if err := Each(write(t), 0, func(r Request) { got = append(got, r) }); err != nil {
		t.Fatal(err)
	}
	want := []Request{
		{User: "a", Verb: "get", Resource: "deployments.apps/status", Namespace: "n", Name: "d", Status: 200},
		{User: "a", Verb: "watch", Resource: "pods", Status: 200},                // when it starts
		{User: "a", Verb: "create", Resource: "pods", Status: 500, DryRun: true}, // also when the API server fails
		{User: "b", Verb: "get", Path: "/version", Status: 200},                  // the impersonated user
	} // and not the line that is still being written
	if !slices.Equal(got, want) {
		t.Errorf("requests\n%+v, want\n%+v", got, want)
	}
}

func TestCountsSinceAMark(t *testing.T) {
	file := write(t)
	counts, err := Counts(file, Mark(strings.Index(log, "\n")+1), "a")
	if err != nil {
		t.Fatal(err)
	}
	want := []Count{{"a", "create", "pods", 1}, {"a", "watch", "pods", 1}}
	if !slices.Equal(counts, want) {
		t.Errorf("counts %+v, want %+v", counts, want)
	}
	if end, err := End(file); err != nil || int(end) != len(log) {
		t.Errorf("end %d (%v), want %d", end, err, len(log))
	}
}
