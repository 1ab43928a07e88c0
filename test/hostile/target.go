package hostile

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Targets are ways in which a cluster may misbehave: those of any server, at each
// request and only after it has been honest about what it serves; and some of clusters
// only.
func Targets() []Way {
	ways := anyRequest()
	for _, way := range anyRequest() {
		if way.Serve == nil {
			continue
		}
		then := way.Serve
		way.Name, way.Reason = "later-"+way.Name, way.Reason+", after an honest discovery"
		way.Serve = afterDiscovery(then)
		ways = append(ways, way)
	}
	return append(ways,
		Way{Name: "endless-line", Reason: "a watch whose line never ends", Serve: afterDiscovery(endlessLine)},
		Way{Name: "endless-events", Reason: "a watch whose events never end", Serve: afterDiscovery(endlessEvents)},
		Way{Name: "endless-groups", Reason: "a cluster with API groups without end", Serve: endlessGroups},
		Way{Name: "endless-pages", Reason: "a list that always has a next page", Serve: afterDiscovery(endlessPages)},
		Way{Name: "somebody-else", Reason: "a cluster that answers with another object", Serve: afterDiscovery(somebodyElse)},
	)
}

// afterDiscovery answers honestly which kinds there are and leaves the rest.
func afterDiscovery(then func(*Server, http.ResponseWriter, *http.Request)) func(*Server, http.ResponseWriter, *http.Request) {
	return func(s *Server, w http.ResponseWriter, r *http.Request) {
		honest, known := discovery[strings.TrimSuffix(r.URL.Path, "/")]
		if !known {
			then(s, w, r)
			return
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, honest)
	}
}

var discovery = map[string]string{
	"/version": `{"major":"1","minor":"36","gitVersion":"v1.36.0"}`,
	"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis":    `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[
		{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["create","delete","get","list","patch","update","watch"]},
		{"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace","verbs":["create","delete","get","list","patch","update","watch"]},
		{"name":"secrets","singularName":"secret","namespaced":true,"kind":"Secret","verbs":["create","delete","get","list","patch","update","watch"]}]}`,
}

// onWatch leaves watches to a function and answers all else as an empty cluster does.
func onWatch(w http.ResponseWriter, r *http.Request, watch func()) {
	switch {
	case r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1":
		w.Header().Set("Content-Type", "application/json")
		watch()
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "s"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	case r.Method == http.MethodGet:
		status(w, http.StatusNotFound, "NotFound", "it is not there")
	default:
		echo(w, r)
	}
}

// echo answers a write with what was written.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

func endlessLine(s *Server, w http.ResponseWriter, r *http.Request) {
	onWatch(w, r, func() {
		_, _ = io.WriteString(w, `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","data":{"x":"`)
		s.pour(w, []byte(strings.Repeat("x", 64<<10)))
	})
}

func endlessEvents(s *Server, w http.ResponseWriter, r *http.Request) {
	onWatch(w, r, func() {
		event := `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a-%d","namespace":"b","uid":"u-%d","resourceVersion":"%d"},"data":{"x":"` + strings.Repeat("x", 900) + `"}}}` + "\n"
		for i := 0; i < MaxBytes/1000 && s.world.context.Err() == nil; i++ {
			n, err := fmt.Fprintf(w, event, i, i, i+2)
			s.sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
}

func endlessGroups(s *Server, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[`)
	s.pour(w, []byte(strings.Repeat(`{"name":"a.example","versions":[{"groupVersion":"a.example/v1","version":"v1"}]},`, 500)))
}

func endlessPages(s *Server, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"page-%d"},"items":[`, s.Requests())
	for i := range 500 {
		if i > 0 {
			_, _ = io.WriteString(w, ",")
		}
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a-%d-%d","namespace":"b"}}`, s.Requests(), i)
	}
	_, _ = io.WriteString(w, "]}")
}

func somebodyElse(_ *Server, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"other","namespace":"kube-system","uid":"x","resourceVersion":"1"},"data":{"password":"`+Canary+`"}}`)
}

// status answers as an API server does with an error.
func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
		"details": map[string]any{"causes": []any{map[string]any{"field": "data", "message": message}}},
	})
}
