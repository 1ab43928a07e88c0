package garden

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const prefix = "/apis/" + servedGroup + "/" + version

func (g *Garden) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix, g.discovery)
	mux.HandleFunc("POST "+prefix+"/namespaces/{namespace}/shoots/{name}/adminkubeconfig", g.grant)
	mux.HandleFunc(prefix+"/", g.stored)
	return http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		g.mutex.Lock()
		disturbs := g.disturbs
		g.mutex.Unlock()
		if disturbs == nil || request.URL.Path == prefix || !disturbs(out, request) {
			mux.ServeHTTP(out, request)
		}
	})
}

// Disturb lets a function answer requests in the place of the garden: it returns whether
// it has answered. Without a function, everything is as usual.
func (g *Garden) Disturb(disturbs func(http.ResponseWriter, *http.Request) bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.disturbs = disturbs
}

// discovery lists what is served.
func (g *Garden) discovery(out http.ResponseWriter, _ *http.Request) {
	answer(out, http.StatusOK, metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: servedGroup + "/" + version,
		APIResources: []metav1.APIResource{
			{Name: "shoots", SingularName: "shoot", Namespaced: true, Kind: "Shoot", Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}},
			{Name: "shoots/adminkubeconfig", Namespaced: true, Group: "authentication.gardener.cloud", Version: "v1alpha1", Kind: "AdminKubeconfigRequest", Verbs: metav1.Verbs{"create"}},
		},
	})
}

// stored serves shoots from where they are stored, under the name of the garden.
func (g *Garden) stored(out http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		Refuse(out, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	address := g.Cluster.Server + strings.Replace(request.URL.Path, servedGroup, storedGroup, 1) + "?" + request.URL.RawQuery
	inner, err := http.NewRequestWithContext(request.Context(), request.Method, address, bytes.NewReader(rename(body, servedGroup, storedGroup)))
	if err != nil {
		Refuse(out, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	inner.Header.Set("Authorization", "Bearer "+g.Cluster.Token)
	inner.Header.Set("Accept", "application/json")
	if form := request.Header.Get("Content-Type"); form != "" {
		inner.Header.Set("Content-Type", form)
	}
	response, err := g.store.Do(inner)
	if err != nil {
		Refuse(out, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
		return
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(response.StatusCode)
	passOn(out, response.Body)
}

// passOn passes an answer on, line by line: each event of a watch is one.
func passOn(out http.ResponseWriter, from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if _, failed := out.Write(rename(line, storedGroup, servedGroup)); failed != nil || err != nil {
			return
		}
		if flusher, ok := out.(http.Flusher); ok {
			flusher.Flush()
		}
	}
}

func rename(text []byte, from, to string) []byte {
	return bytes.ReplaceAll(text, []byte(from), []byte(to))
}

func answer(out http.ResponseWriter, status int, body any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_ = json.NewEncoder(out).Encode(body) // the client has disconnected if this fails
}

// Refuse answers with a failure, as API servers do.
func Refuse(out http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	answer(out, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message, // three digits
	})
}
