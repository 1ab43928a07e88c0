// Package audit counts the requests in an API server's audit log.
package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"sort"
)

// Request is one request of a client.
type Request struct {
	User      string `json:"user"`
	UserAgent string `json:"userAgent"`
	Verb      string `json:"verb"`
	// Resource is written as in deployments.apps/status; it is empty for
	// requests that are not about a resource, which have a Path.
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Path      string `json:"path,omitempty"`
	Status    int    `json:"status"`
	// DryRun is set if nothing was stored.
	DryRun bool `json:"dryRun,omitempty"`
}

// event is the part of an audit event that counting needs.
type event struct {
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	UserAgent  string `json:"userAgent"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ImpersonatedUser *struct {
		Username string `json:"username"`
	} `json:"impersonatedUser"`
	ObjectRef *struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		APIGroup    string `json:"apiGroup"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// request is what the event counts as. A watch counts when it starts, anything
// else when it ends, so that nothing counts twice.
func (e event) request() (Request, bool) {
	const started = "ResponseStarted"
	if (e.Verb == "watch") != (e.Stage == started) {
		return Request{}, false
	}
	r := Request{User: e.User.Username, UserAgent: e.UserAgent, Verb: e.Verb, Status: e.ResponseStatus.Code}
	if address, err := url.Parse(e.RequestURI); err == nil {
		r.DryRun = address.Query().Has("dryRun")
	}
	if e.ImpersonatedUser != nil {
		r.User = e.ImpersonatedUser.Username
	}
	if e.ObjectRef == nil {
		r.Path = e.RequestURI
		return r, true
	}
	r.Resource, r.Namespace, r.Name = e.ObjectRef.Resource, e.ObjectRef.Namespace, e.ObjectRef.Name
	if e.ObjectRef.APIGroup != "" {
		r.Resource += "." + e.ObjectRef.APIGroup
	}
	if e.ObjectRef.Subresource != "" {
		r.Resource += "/" + e.ObjectRef.Subresource
	}
	return r, true
}

// Mark is a place in a log; requests after it are those that come later.
type Mark int64

// End is the mark after all that the log has now.
func End(file string) (Mark, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, fmt.Errorf("look at the audit log: %w", err)
	}
	return Mark(info.Size()), nil
}

// Each calls do for every request in the log after the mark.
func Each(file string, after Mark, do func(Request)) error {
	log, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	defer log.Close()
	if _, err := log.Seek(int64(after), io.SeekStart); err != nil {
		return fmt.Errorf("seek in the audit log: %w", err)
	}
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a line without an end is still being written
		}
		if err != nil {
			return fmt.Errorf("read the audit log: %w", err)
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("decode a line of the audit log: %w", err)
		}
		if request, counts := e.request(); counts {
			do(request)
		}
	}
}

// Count is how often a client sent a kind of request.
type Count struct {
	User     string `json:"user"`
	Verb     string `json:"verb"`
	Resource string `json:"resource"`
	Requests int    `json:"requests"`
}

// Counts counts the requests after the mark by user, verb and resource; an
// empty user means all users.
func Counts(file string, after Mark, user string) ([]Count, error) {
	numbers := map[Count]int{}
	err := Each(file, after, func(r Request) {
		if user == "" || r.User == user {
			numbers[Count{User: r.User, Verb: r.Verb, Resource: r.Resource}]++
		}
	})
	if err != nil {
		return nil, err
	}
	counts := []Count{}
	for count, number := range numbers {
		count.Requests = number
		counts = append(counts, count)
	}
	sort.Slice(counts, func(i, j int) bool {
		a, b := counts[i], counts[j]
		if a.User != b.User {
			return a.User < b.User
		}
		if a.Resource != b.Resource {
			return a.Resource < b.Resource
		}
		return a.Verb < b.Verb
	})
	return counts, nil
}
