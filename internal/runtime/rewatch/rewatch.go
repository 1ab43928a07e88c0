// Package rewatch lets caches list anew when the history of an API server was rewound.
//
// The store of a cluster may be restored from a backup. Its versions begin again at those of
// the backup, and a cache that resumes its watch asks for what comes after a version that the
// API server does not have yet. Such a watch is not refused: it is silent until the version has
// come for a second time, and everything in between is lost, as are all objects that the backup
// has in another state. So before a watch is resumed that has ended early, one request asks how
// far the API server is. If it is behind the watch, the watch is answered with "gone", as for a
// version that is too old: every client of Kubernetes lists anew then.
//
// Clients also list anew for reasons of their own, from the version that they have. Such a list
// is checked, too: the callback for a rewound history is called before any cache shows it.
//
// A watch that has ended at its own time costs nothing more.
package rewatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/internal/base/resourceversion"
)

const (
	// inTime is how much earlier than asked for a watch may end in time.
	inTime = 2 * time.Second
	// mostBytes bounds the answer to a question, which has the metadata of one object.
	mostBytes = 2 << 20
	// accepted leaves everything but the metadata out of the answer.
	accepted = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

// Config returns a configuration whose watches are resumed only in the history that they have
// begun in. Rewound is called when that is over; it may be nil, and must not wait.
func Config(config *rest.Config, rewound func()) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return Transport(next, rewound) })
	return config
}

// Transport does for a transport what Config does for a configuration.
func Transport(next http.RoundTripper, rewound func()) http.RoundTripper {
	return &transport{RoundTripper: next, rewound: rewound, broken: map[string]bool{}}
}

type transport struct {
	http.RoundTripper
	rewound func()

	mutex sync.Mutex
	// broken are the watches that have ended early, or could not be opened.
	broken map[string]bool
}

// WrappedRoundTripper implements net.RoundTripperWrapper, for those who look for what is below.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if request.Method != http.MethodGet {
		return t.RoundTripper.RoundTrip(request) // a transport returns what the one below it returns
	}
	key := keyOf(request.URL.Path, query)
	if t.isBroken(key) && resumes(query) {
		if answer, err := t.check(request, query); err != nil || answer != nil {
			return answer, err // as for the watch itself
		}
	}
	if watching, _ := strconv.ParseBool(query.Get("watch")); !watching {
		return t.RoundTripper.RoundTrip(request) // a transport returns what the one below it returns
	}
	began := time.Now()
	answer, err := t.RoundTripper.RoundTrip(request)
	if err != nil || isStarting(answer.StatusCode) {
		if resumes(query) { // a watch without a version has no history to lose
			t.note(key, true)
		}
		return answer, err // a transport returns what the one below it returns
	}
	if answer.StatusCode != http.StatusOK {
		return answer, nil // an API server that refuses a kind of watch tells nothing about its history
	}
	t.note(key, false)
	seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
	due := began.Add(time.Duration(seconds)*time.Second - inTime)
	answer.Body = &body{ReadCloser: answer.Body, ended: func() {
		if request.Context().Err() == nil && (seconds == 0 || time.Now().Before(due)) {
			t.note(key, true)
		}
	}}
	return answer, nil
}

// isStarting reports whether a status may be that of an API server that has just started and does
// not know kinds and rights yet.
func isStarting(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return status >= http.StatusInternalServerError
}

// keyOf identifies a watch, whatever version it begins at.
func keyOf(path string, query url.Values) string {
	return path + "?" + query.Get("labelSelector") + "&" + query.Get("fieldSelector")
}

// resumes reports whether a watch or a list continues from a version. The API server refuses a list
// from a version that it does not have, but only the cache would see that error.
func resumes(query url.Values) bool {
	version := query.Get("resourceVersion")
	return version != "" && version != "0"
}

func (t *transport) isBroken(key string) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.broken[key]
}

func (t *transport) note(key string, broken bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if broken {
		t.broken[key] = true
	} else {
		delete(t.broken, key)
	}
}

// check asks how far the API server is. It returns the answer for the watch if that must not be
// resumed, and nil if it may be.
func (t *transport) check(request *http.Request, query url.Values) (*http.Response, error) {
	question := request.Clone(request.Context())
	asked := url.Values{"limit": {"1"}}
	for _, selector := range []string{"labelSelector", "fieldSelector"} {
		if value := query.Get(selector); value != "" {
			asked.Set(selector, value)
		}
	}
	question.URL.RawQuery = asked.Encode()
	question.Header.Set("Accept", accepted)
	answer, err := t.RoundTripper.RoundTrip(question)
	if err != nil {
		return nil, err // as for the watch itself
	}
	if answer.StatusCode != http.StatusOK {
		// The version is not known yet. An API server that has just started does not know custom
		// kinds and rights for a moment; the cache tries again.
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }() // it was read as far as it counts
	var list metav1.PartialObjectMetadataList
	if json.NewDecoder(io.LimitReader(answer.Body, mostBytes)).Decode(&list) != nil {
		return nil, nil // what is not a list tells nothing
	}
	version := query.Get("resourceVersion")
	if list.ResourceVersion == "" || !resourceversion.Older(list.ResourceVersion, version) {
		return nil, nil // versions that cannot be compared tell nothing
	}
	if t.rewound != nil {
		t.rewound()
	}
	return gone(request, version, list.ResourceVersion), nil
}

// gone is the answer to a watch that cannot be resumed.
func gone(request *http.Request, version, now string) *http.Response {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
		Message: fmt.Sprintf("the history of the API server was rewound: it is at version %s, the watch was at %s", now, version),
	}
	content, _ := json.Marshal(status) // it has texts and numbers only
	return &http.Response{
		Status: "410 Gone", StatusCode: http.StatusGone, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}}, ContentLength: int64(len(content)), Body: io.NopCloser(bytes.NewReader(content)),
	}
}

// body is what a watch reads.
type body struct {
	io.ReadCloser
	ended func()
	once  sync.Once
}

// Read implements io.Reader.
func (b *body) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err != nil {
		b.once.Do(b.ended)
	}
	return n, err // the decoder of the watch compares with io.EOF
}
