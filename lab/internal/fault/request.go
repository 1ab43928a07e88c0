package fault

import (
	"net/http"
	"slices"
	"strings"
)

// Request is what a request asks of an API server.
type Request struct {
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
	// Path is set for what is not about a resource, such as /readyz.
	Path string `json:"path,omitempty"`
}

// Parse reads a request the way an API server does: by its method and path.
func Parse(r *http.Request) Request {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var request Request
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		request.Group = parts[1]
		parts = parts[3:]
	default:
		return Request{Verb: strings.ToLower(r.Method), Path: r.URL.Path}
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !isNamespaceSubresource(parts) {
		request.Namespace = parts[1]
		parts = parts[2:]
	}
	for i, field := range []*string{&request.Resource, &request.Name, &request.Subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	request.Verb = verb(r, request.Name)
	return request
}

// isNamespaceSubresource distinguishes /namespaces/x/status from /namespaces/x/pods.
func isNamespaceSubresource(parts []string) bool {
	return len(parts) == 3 && slices.Contains([]string{"status", "finalize"}, parts[2])
}

func verb(r *http.Request, name string) string {
	watch := r.URL.Query().Get("watch")
	switch {
	case r.Method == http.MethodGet && (watch == "true" || watch == "1"):
		return "watch"
	case r.Method == http.MethodGet && name == "":
		return "list"
	case r.Method == http.MethodDelete && name == "":
		return "deletecollection"
	}
	verbs := map[string]string{
		http.MethodGet: "get", http.MethodHead: "get", http.MethodPost: "create",
		http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
	}
	return verbs[r.Method]
}

// resource is the resource as rules name it: deployments.apps/status.
func (r Request) resource() string {
	resource := r.Resource
	if r.Group != "" {
		resource += "." + r.Group
	}
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	return resource
}

// key identifies equal requests.
func (r Request) key() string {
	return strings.Join([]string{r.Verb, r.resource(), r.Namespace, r.Name, r.Path}, " ")
}
