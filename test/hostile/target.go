package hostile

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
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
		way.Serve, way.Honest = afterDiscovery(then), isDiscovery
		ways = append(ways, way)
	}
	for _, way := range onObjects() {
		way.Serve, way.Honest = afterDiscovery(way.Serve), isDiscovery
		ways = append(ways, way)
	}
	for _, way := range onWatches() {
		misbehaves := way.Serve
		way.Serve = afterDiscovery(func(s *Server, w http.ResponseWriter, r *http.Request) {
			onWatch(w, r, func() { misbehaves(s, w, r) })
		})
		way.Honest = func(r *http.Request) bool { return isDiscovery(r) || !isWatch(r) }
		ways = append(ways, way)
	}
	return append(ways, Late(20*time.Second), Way{Name: "endless-groups", Reason: "a cluster with API groups without end", Serve: endlessGroups})
}

// Late is a cluster that does what it is asked to, and answers so late that a client has almost given
// up.
func Late(after time.Duration) Way {
	answer := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isWatch(r):
			w.Header().Set("Content-Type", "application/json")
		case r.Method == http.MethodGet:
			status(w, http.StatusNotFound, "NotFound", "it is not there")
		default:
			echo(w, r)
		}
	}
	return Way{
		Name: "late", Reason: "a cluster that answers " + after.String() + " late", Honest: isDiscovery,
		Serve: afterDiscovery(func(s *Server, w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(after):
				answer(w, r)
			case <-s.ended(r):
			}
		}),
	}
}

// Deadly is a cluster of which the first request for an object ends the client: what it answers is too
// much for the process.
func Deadly(kill func()) Way {
	return Way{
		Name: "deadly", Reason: "a cluster whose answer ends the client", Honest: isDiscovery,
		Serve: afterDiscovery(func(s *Server, _ http.ResponseWriter, r *http.Request) {
			kill()
			<-s.ended(r)
		}),
	}
}

// afterDiscovery answers honestly which kinds there are and leaves the rest.
func afterDiscovery(then func(*Server, http.ResponseWriter, *http.Request)) func(*Server, http.ResponseWriter, *http.Request) {
	return func(s *Server, w http.ResponseWriter, r *http.Request) {
		if !isDiscovery(r) {
			then(s, w, r)
			return
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20))
		answerJSON(w, discovery[strings.TrimSuffix(r.URL.Path, "/")])
	}
}

func isDiscovery(r *http.Request) bool {
	_, known := discovery[strings.TrimSuffix(r.URL.Path, "/")]
	return known
}

func isWatch(r *http.Request) bool {
	asked := r.URL.Query().Get("watch")
	return asked == "true" || asked == "1"
}

func answerJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

var discovery = map[string]string{
	"/version": `{"major":"1","minor":"36","gitVersion":"v1.36.0"}`,
	"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis":    `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`,
	"/apis/apps/v1": `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[
		{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["create","delete","get","list","patch","update","watch"]}]}`,
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[
		{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["create","delete","get","list","patch","update","watch"]},
		{"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace","verbs":["create","delete","get","list","patch","update","watch"]},
		{"name":"secrets","singularName":"secret","namespaced":true,"kind":"Secret","verbs":["create","delete","get","list","patch","update","watch"]}]}`,
}

// onWatch leaves watches to a function and answers all else as an empty cluster does.
func onWatch(w http.ResponseWriter, r *http.Request, watch func()) {
	switch {
	case r.URL.Query().Has("sendInitialEvents"):
		status(w, http.StatusUnprocessableEntity, "Invalid", "it is not supported")
	case isWatch(r):
		w.Header().Set("Content-Type", "application/json")
		watch()
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "s"):
		kind := "DeploymentList"
		if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
			kind = "PartialObjectMetadataList"
		}
		answerJSON(w, `{"kind":"`+kind+`","apiVersion":"apps/v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	case r.Method == http.MethodGet:
		status(w, http.StatusNotFound, "NotFound", "it is not there")
	default:
		echo(w, r)
	}
}

// echo answers a write as a server does that has stored what was written.
func echo(w http.ResponseWriter, r *http.Request) {
	var object map[string]any
	if json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&object) != nil {
		http.Error(w, "no object", http.StatusBadRequest)
		return
	}
	if meta, ok := object["metadata"].(map[string]any); ok {
		meta["uid"], meta["resourceVersion"], meta["generation"] = "stored", "1", 1
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object)
}

func endlessGroups(s *Server, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[`)
	s.pour(w, []byte(strings.Repeat(`{"name":"a.example","versions":[{"groupVersion":"a.example/v1","version":"v1"}]},`, 500)))
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
