package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

const (
	// maxRequest is how long a request may be, as for an API server.
	maxRequest = 3 << 20
	// maxObject is how large an object may be in the store, as for etcd.
	maxObject = 1536 << 10
	// DefaultMemory is how many bytes all objects of a server may have.
	DefaultMemory = 128 << 20
)

// Options are the settings of a server.
type Options struct {
	// Kinds are served besides those of Kubernetes.
	Kinds []*Kind
	// Intercept is called before each request is carried out; an error is its answer, and it may take
	// its time. It is not called for discovery.
	Intercept func(context.Context, Request) error
	// Changed is called after each change, in the order of the changes. It must not wait.
	Changed func(*Server, Change)
	// Memory is how many bytes all objects may have; 0 is DefaultMemory.
	Memory int
}

// Request is a request as Options.Intercept sees it.
type Request struct {
	Kind *Kind
	// Verb is one of those of Kubernetes: get, list, watch, create, update, patch, delete.
	Verb                         string
	Namespace, Name, Subresource string
}

// Server is an API server in memory.
type Server struct {
	options Options

	mutex       sync.Mutex
	kinds       *registry
	collections map[string]*collection
	owned       map[string]map[reference]bool
	version     int64
	bytes       int
	closed      chan struct{}
	// news is closed, and replaced, with each change.
	news     chan struct{}
	ending   sync.Once
	managers managers
}

// New returns a server with the namespaces that each cluster has.
func New(options Options) *Server {
	if options.Memory == 0 {
		options.Memory = DefaultMemory
	}
	s := &Server{
		options: options, kinds: newRegistry(), collections: map[string]*collection{},
		owned: map[string]map[reference]bool{}, closed: make(chan struct{}), news: make(chan struct{}), managers: managers{},
	}
	for _, kind := range options.Kinds {
		s.kinds.add(kind)
	}
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		s.mutex.Lock()
		s.addNamespace(name)
		s.mutex.Unlock()
	}
	return s
}

// News returns what is closed at the next change.
func (s *Server) News() <-chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.news
}

// Close ends all watches; requests fail afterwards.
func (s *Server) Close() { s.ending.Do(func() { close(s.closed) }) }

// Config returns how clients of this process reach the server, at an address that exists nowhere.
func (s *Server) Config(host string) *rest.Config {
	return &rest.Config{
		Host: "https://" + host, Transport: s, QPS: -1,
		// The server reads nothing else.
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
	}
}

// target is what a path is about.
type target struct {
	kind                         *Kind
	namespace, name, subresource string
}

// call is a request to objects.
type call struct {
	target
	verb   string
	query  url.Values
	accept string
	body   []byte
	media  string
}

// answer is what a request gets: a value, or a body that is written bit by bit.
type answer struct {
	code        int
	value       any
	stream      io.ReadCloser
	contentType string
}

func ok(value any) *answer { return &answer{code: http.StatusOK, value: value} }

// failed is the answer for an error.
func failed(err error) *answer {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return &answer{code: int(status.Code), value: status}
}

func notServed(what string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource: " + what,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Message: "404 page not found"}}},
	}}
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(request *http.Request) (*http.Response, error) {
	select {
	case <-s.closed:
		return nil, errors.New("the API server in memory has ended")
	default:
	}
	body, err := readBody(request)
	if err != nil {
		return nil, err
	}
	found := s.serve(request, body)
	if err := request.Context().Err(); err != nil {
		if found.stream != nil {
			_ = found.stream.Close() // it was not read
		}
		return nil, err
	}
	return found.response(request)
}

// readBody reads what is sent; what is too long is cut, and refused later.
func readBody(request *http.Request) ([]byte, error) {
	if request.Body == nil {
		return nil, nil
	}
	defer request.Body.Close() //nolint:errcheck // only read from
	body, err := io.ReadAll(io.LimitReader(request.Body, maxRequest+1))
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return body, nil
}

func (a *answer) response(request *http.Request) (*http.Response, error) {
	contentType := a.contentType
	if contentType == "" {
		contentType = runtime.ContentTypeJSON
	}
	response := &http.Response{
		Status: strconv.Itoa(a.code) + " " + http.StatusText(a.code), StatusCode: a.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Request: request, Header: http.Header{"Content-Type": {contentType}}, Body: a.stream, ContentLength: -1,
	}
	if a.stream != nil {
		return response, nil
	}
	content, isText := a.value.([]byte)
	if !isText {
		var err error
		if content, err = json.Marshal(a.value); err != nil {
			return nil, fmt.Errorf("encode an answer: %w", err)
		}
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(content)), int64(len(content))
	return response, nil
}

// serve answers a request.
func (s *Server) serve(request *http.Request, body []byte) *answer {
	if len(body) > maxRequest {
		return failed(apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxRequest)))
	}
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	accept := request.Header.Get("Accept")
	if request.Method == http.MethodGet {
		if found := s.discover(parts, accept); found != nil {
			return found
		}
	}
	at := s.parse(parts)
	if at == nil {
		return failed(notServed(request.URL.Path))
	}
	made := &call{target: *at, query: request.URL.Query(), accept: accept, body: body, media: request.Header.Get("Content-Type")}
	made.verb = verbOf(request.Method, made)
	if intercept := s.options.Intercept; intercept != nil {
		err := intercept(request.Context(), Request{Kind: at.kind, Verb: made.verb, Namespace: at.namespace, Name: made.objectName(), Subresource: at.subresource})
		if err != nil {
			return failed(err)
		}
	}
	return s.carryOut(request.Context(), made)
}

// parse finds out what a path is about; nil if no kind is served there.
func (s *Server) parse(parts []string) *target {
	gv := metav1.GroupVersion{}
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		gv.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		gv.Group, gv.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return nil
	}
	at := &target{}
	if len(parts) >= 3 && parts[0] == "namespaces" && !ofNamespace(gv, parts) {
		at.namespace, parts = parts[1], parts[2:]
	}
	s.mutex.Lock()
	at.kind = s.kinds.byPath[schema.GroupVersionResource{Group: gv.Group, Version: gv.Version, Resource: parts[0]}]
	s.mutex.Unlock()
	if at.kind == nil || len(parts) > 3 {
		return nil
	}
	if len(parts) > 1 {
		at.name = parts[1]
	}
	if len(parts) > 2 {
		at.subresource = parts[2]
	}
	if !at.kind.Namespaced {
		at.namespace = ""
	}
	return at
}

// ofNamespace reports whether a path is about a subresource of a namespace, and not about what is in it.
func ofNamespace(gv metav1.GroupVersion, parts []string) bool {
	return gv.Group == "" && len(parts) == 3 && (parts[2] == "status" || parts[2] == "finalize")
}

// objectName is the name of the object that a request is about, which a new one has in its body.
func (c *call) objectName() string {
	if c.name != "" || c.verb != "create" {
		return c.name
	}
	var named metav1.PartialObjectMetadata
	_ = json.Unmarshal(c.body, &named) // another value is refused later
	return named.Name
}

func verbOf(method string, made *call) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if made.name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	if watching, _ := strconv.ParseBool(made.query.Get("watch")); watching {
		return "watch"
	}
	if made.name == "" {
		return "list"
	}
	return "get"
}

// carryOut carries a request out.
func (s *Server) carryOut(ctx context.Context, made *call) *answer {
	if isReview(made.kind) || made.subresource == "token" {
		return s.review(made)
	}
	if !made.kind.hasSubresource(made.subresource) {
		return failed(notServed(made.kind.Resource + "/" + made.subresource))
	}
	switch made.verb {
	case "watch":
		return s.watch(ctx, made)
	case "list":
		return s.list(made)
	case "deletecollection":
		return s.removeAll(made)
	case "delete":
		return s.remove(made)
	}
	return s.carryOutOnObject(made)
}

// carryOutOnObject carries a request out that is answered with the object.
func (s *Server) carryOutOnObject(made *call) *answer {
	var object map[string]any
	var err error
	switch made.verb {
	case "get":
		object, err = s.get(made)
	case "create":
		if object, err = s.create(made); err == nil {
			return &answer{code: http.StatusCreated, value: object}
		}
	case "update":
		object, err = s.update(made)
	case "patch":
		object, err = s.patch(made)
	}
	if err != nil {
		return failed(err)
	}
	return ok(shown(object, made.accept))
}

// hasSubresource reports whether a subresource of a kind is served; none is the object itself.
func (k *Kind) hasSubresource(name string) bool {
	switch name {
	case "", "finalize":
		return true
	case "status":
		return k.Status
	}
	return false
}
