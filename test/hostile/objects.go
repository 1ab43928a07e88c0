package hostile

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// onObjects are ways to answer what is asked about objects.
func onObjects() []Way {
	always := func(name, reason string, code int, said string) Way {
		return Way{Name: name, Reason: reason, Serve: func(_ *Server, w http.ResponseWriter, _ *http.Request) { status(w, code, said, Canary) }}
	}
	answer := func(name, reason, text string) Way {
		return Way{Name: name, Reason: reason, Serve: func(_ *Server, w http.ResponseWriter, _ *http.Request) { answerJSON(w, text) }}
	}
	return []Way{
		{Name: "endless-pages", Reason: "a list that always has a next page", Serve: endlessPages},
		answer("empty-pages", "a list that always has a next page, and nothing in any", `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1","continue":"more"},"items":[]}`),
		answer("another-object", "a cluster that answers with another object", `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"other","namespace":"kube-system","uid":"x","resourceVersion":"1"},"data":{"password":"`+Canary+`"}}`),
		answer("nothing", "an answer without content", ""),
		answer("null", "an answer that says null", "null"),
		answer("no-object", "an answer that is not an object", `["`+Canary+`"]`),
		answer("odd-fields", "an object whose metadata are of other types", `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":["`+Canary+`"],"uid":7,"creationTimestamp":"`+Canary+`","labels":[1]},"status":"`+Canary+`"}`),
		answer("no-unicode", "an object that is not Unicode", `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"`+"\xff\xfe"+Canary+`"}}`),
		answer("keys-twice", "an object with a field again and again", `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{`+strings.Repeat(`"name":"a",`, 100_000)+`"uid":"x"}}`),
		answer("deep-object", "an object that is nested 100,000 times, and complete", `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a","uid":"x","resourceVersion":"1"},"spec":`+strings.Repeat(`{"a":`, 100_000)+"1"+strings.Repeat("}", 100_000)+"}"),
		answer("many-values", "an object of many small values", `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a","uid":"x","resourceVersion":"1"},"spec":[`+strings.Repeat("[],", 1_000_000)+"1]}"),
		always("never-allowed", "a server that forbids everything", http.StatusForbidden, "Forbidden"),
		always("never-known", "a server that knows no client", http.StatusUnauthorized, "Unauthorized"),
		always("always-conflict", "a server where another client was always faster", http.StatusConflict, "Conflict"),
		always("always-exists", "a server where everything exists, and nothing can be read", http.StatusConflict, "AlreadyExists"),
	}
}

// onWatches are ways to answer watches, of a cluster that is honest otherwise.
func onWatches() []Way {
	return []Way{
		{Name: "endless-line", Reason: "a watch whose line never ends", Serve: func(s *Server, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"type":"ADDED","object":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"annotations":{"x":"`)
			s.pour(w, []byte(strings.Repeat("x", 64<<10)))
		}},
		{Name: "endless-events", Reason: "a watch with new objects without end", Serve: func(s *Server, w http.ResponseWriter, _ *http.Request) {
			s.events(w, "ADDED", func(i int) string { return fmt.Sprintf("a-%d", i) }, strings.Repeat("x", 900))
		}},
		{Name: "endless-changes", Reason: "a watch with changes of one object without end", Serve: func(s *Server, w http.ResponseWriter, r *http.Request) {
			s.events(w, "MODIFIED", func(int) string { return "workload" }, "")
		}},
		{Name: "endless-bookmarks", Reason: "a watch with bookmarks without end", Serve: func(s *Server, w http.ResponseWriter, _ *http.Request) {
			s.events(w, "BOOKMARK", func(int) string { return "" }, "")
		}},
		{Name: "endless-failures", Reason: "a watch with failures without end", Serve: func(s *Server, w http.ResponseWriter, _ *http.Request) {
			s.pour(w, []byte(strings.Repeat(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":410,"reason":"Expired","message":"`+Canary+`"}}`+"\n", 100)))
		}},
		{Name: "watch-ends", Reason: "a watch that ends at once, each time", Serve: func(_ *Server, w http.ResponseWriter, _ *http.Request) {}},
		{Name: "watch-strange", Reason: "a watch with events of an unknown type", Serve: func(s *Server, w http.ResponseWriter, _ *http.Request) {
			s.events(w, Canary, func(int) string { return Canary }, "")
		}},
		{Name: "watch-silent", Reason: "a watch that never says anything", Serve: func(s *Server, w http.ResponseWriter, r *http.Request) { <-s.ended(r) }},
	}
}

// events sends events without end, up to the bound.
func (s *Server) events(w http.ResponseWriter, kind string, name func(int) string, text string) {
	const event = `{"type":%q,"object":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":%q,"namespace":"b","uid":"stored","resourceVersion":"%d","generation":1,"annotations":{"x":%q}}}}` + "\n"
	for i, sent := 0, 0; sent < MaxBytes && s.world.context.Err() == nil; i++ {
		n, err := fmt.Fprintf(w, event, kind, name(i), i+2, text)
		sent += n
		s.sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

func endlessPages(s *Server, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1","continue":"page-%d"},"items":[`, s.Requests())
	for i := range 500 {
		if i > 0 {
			_, _ = io.WriteString(w, ",")
		}
		_, _ = fmt.Fprintf(w, `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a-%d-%d","namespace":"b"}}`, s.Requests(), i)
	}
	_, _ = io.WriteString(w, "]}")
}
