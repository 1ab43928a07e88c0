package supervisor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/lab/internal/objects"
)

// lateServer is an API server whose authorizer learns late of what was stored.
type lateServer struct {
	// late is how many questions for a right of clusterroles or roles are denied before
	// it is in force.
	late map[string]int
	// silent answers no question.
	silent bool
	// denied is called after each denial.
	denied func()

	mu sync.Mutex
	// stored are the paths of what there is, roles the resources that grant a right.
	stored, roles map[string]string
	// asked are the users that were asked about, by the resource that grants the right.
	asked map[string]string
}

// role is what roles and bindings have in common with what the server looks at.
type role struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`
	Rules             []rbacv1.PolicyRule `json:"rules,omitempty"`
	Subjects          []rbacv1.Subject    `json:"subjects,omitempty"`
	RoleRef           *rbacv1.RoleRef     `json:"roleRef,omitempty"`
}

// ServeHTTP implements http.Handler.
func (s *lateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch kind := path.Base(r.URL.Path); {
	case r.Method == http.MethodDelete:
		delete(s.stored, r.URL.Path)
		answer(w, metav1.Status{Status: metav1.StatusSuccess})
	case kind == "subjectaccessreviews" && s.silent:
		http.Error(w, "no", http.StatusServiceUnavailable)
	case kind == "subjectaccessreviews":
		var review authorizationv1.SubjectAccessReview
		_ = json.NewDecoder(r.Body).Decode(&review)
		granted := s.roles[review.Spec.ResourceAttributes.Resource]
		s.asked[granted] = review.Spec.User
		s.late[granted]--
		review.Status.Allowed = s.late[granted] < 0
		answer(w, review)
		if !review.Status.Allowed && s.denied != nil {
			s.denied()
		}
	default:
		var made role
		_ = json.NewDecoder(r.Body).Decode(&made)
		made.Name = fmt.Sprint(made.GenerateName, len(s.stored))
		s.stored[path.Join(r.URL.Path, made.Name)] = kind
		for _, rule := range made.Rules {
			s.roles[rule.Resources[0]] = kind
		}
		answer(w, made)
	}
}

// TestAwaitForce: a user is there when the rights of all kinds are in force, and nothing
// stays of how that was found out.
func TestAwaitForce(t *testing.T) {
	const user = "crew:member"
	tests := []struct {
		reason  string
		server  lateServer
		givesUp bool // the caller, at the first denial
		wantErr string
	}{
		{"all rights are in force at once", lateServer{}, false, ""},
		{"roles of the cluster are late", lateServer{late: map[string]int{"clusterroles": 3}}, false, ""},
		{"roles of namespaces are late, which come by another watch", lateServer{late: map[string]int{"roles": 3}}, false, ""},
		{"the caller does not want to wait any more", lateServer{late: map[string]int{"roles": 1 << 30}}, true, context.Canceled.Error()},
		{"the server does not answer", lateServer{silent: true}, false, "ask whether rights are in force"},
	}
	for i := range tests {
		test := &tests[i]
		t.Run(test.reason, func(t *testing.T) {
			ctx, giveUp := context.WithCancel(t.Context())
			defer giveUp()
			server := &test.server
			server.stored, server.roles, server.asked = map[string]string{}, map[string]string{}, map[string]string{}
			if server.late == nil {
				server.late = map[string]int{}
			}
			if test.givesUp {
				server.denied = giveUp
			}
			c := &cluster{objects: &objects.Objects{Clientset: clientOf(t, server)}}
			err := c.awaitForce(ctx, user)
			server.mu.Lock()
			defer server.mu.Unlock()
			switch {
			case test.wantErr == "" && err != nil, test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)):
				t.Errorf("error %v, want %q", err, test.wantErr)
			case err == nil && (server.late["clusterroles"] >= 0 || server.late["roles"] >= 0):
				t.Errorf("it did not wait: %v", server.late)
			case err == nil && !maps.Equal(server.asked, map[string]string{"clusterroles": user, "roles": user}):
				t.Errorf("asked about %v", server.asked)
			}
			if left := slices.Sorted(maps.Keys(server.stored)); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func clientOf(t *testing.T, handler http.Handler) *kubernetes.Clientset {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	return clientset
}
