// Package access asks Kubernetes what a user of a console may list. It decides nothing itself: the
// rights are those of the resource cluster, and an answer counts for a few seconds.
package access

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/console"
)

const (
	// allowedFor and refusedFor are how long an answer counts. A right that was taken away ends within
	// seconds; that a new right takes longer lets users with few rights cost fewer requests.
	allowedFor, refusedFor = 5 * time.Second, 20 * time.Second
	// beat hides how many questions there were: an answer about several namespaces takes a multiple
	// of it, so that its time does not say how many namespaces others have.
	beat = 250 * time.Millisecond
	// atOnce is how many questions of one view are under way.
	atOnce = 8
	// maxAnswers bounds what is remembered.
	maxAnswers = 50_000
	// timeout limits one question.
	timeout = 10 * time.Second
)

// User is a user as Kubernetes knows one.
type User = authenticationv1.UserInfo

// Reviews asks whether a user has a right; it is that of a client for the resource cluster.
type Reviews interface {
	Create(ctx context.Context, review *authorizationv1.SubjectAccessReview, options metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error)
}

// Rights knows what users may list.
type Rights struct {
	reviews Reviews

	mutex   sync.Mutex
	answers map[question]answer
}

type question struct {
	user      [sha256.Size]byte
	resource  schema.GroupResource
	namespace string
}

type answer struct {
	allowed bool
	until   time.Time
}

// New returns rights that are asked for by reviews.
func New(reviews Reviews) *Rights { return &Rights{reviews: reviews, answers: map[question]answer{}} }

// View returns what a user may list in all namespaces, and in some.
func (r *Rights) View(ctx context.Context, user User, namespaces []string) (console.View, error) {
	l, err := r.newLook(ctx, user)
	if err != nil {
		return console.View{}, err
	}
	begun := time.Now()
	parts := console.Parts()
	l.ask(append(parts, console.Installations), []string{""})
	if !l.view.Sees(console.Installations, "") {
		l.ask([]schema.GroupResource{console.Installations}, namespaces)
	}
	within := slices.DeleteFunc(slices.Clone(namespaces), func(namespace string) bool { return !l.view.Sees(console.Installations, namespace) })
	narrow := slices.DeleteFunc(parts, func(part schema.GroupResource) bool { return l.view.Sees(part, "") })
	l.ask(narrow, within)
	if l.err != nil {
		return console.View{}, l.err
	}
	// The page of one Installation asks as much whether its namespace exists or not.
	if l.asked && len(namespaces) > 1 {
		if err := waitFor(ctx, beat-time.Since(begun)%beat); err != nil {
			return console.View{}, err
		}
	}
	return l.view, nil
}

func waitFor(ctx context.Context, rest time.Duration) error {
	clock := time.NewTimer(rest)
	defer clock.Stop()
	select {
	case <-clock.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// look collects the answers for one view.
type look struct {
	rights *Rights
	ctx    context.Context
	user   User
	digest [sha256.Size]byte

	mutex sync.Mutex
	view  console.View
	asked bool
	err   error
}

func (r *Rights) newLook(ctx context.Context, user User) (*look, error) {
	// Users with the same name and other groups are others.
	text, err := json.Marshal(user)
	if err != nil {
		return nil, fmt.Errorf("tell users apart: %w", err)
	}
	return &look{rights: r, ctx: ctx, user: user, digest: sha256.Sum256(text)}, nil
}

// ask adds to the view what may be listed in namespaces; "" is all of them.
func (l *look) ask(resources []schema.GroupResource, namespaces []string) {
	var group sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for _, namespace := range namespaces {
		for _, resource := range resources {
			places <- struct{}{}
			group.Go(func() {
				defer func() { <-places }()
				l.one(question{l.digest, resource, namespace})
			})
		}
	}
	group.Wait()
}

func (l *look) one(q question) {
	l.mutex.Lock()
	failed := l.err != nil
	l.mutex.Unlock()
	if failed {
		return
	}
	allowed, known := l.rights.known(q)
	var err error
	if !known {
		allowed, err = l.rights.review(l.ctx, l.user, q)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.asked = l.asked || !known
	if err != nil {
		l.err = err
	}
	if allowed {
		l.view.Allow(q.resource, q.namespace)
	}
}

func (r *Rights) known(q question) (allowed, known bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found, known := r.answers[q]
	return found.allowed, known && time.Now().Before(found.until)
}

// review asks the resource cluster. A user who may list a resource may see all objects of it.
func (r *Rights) review(ctx context.Context, user User, q question) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	extra := map[string]authorizationv1.ExtraValue{}
	for key, value := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(value)
	}
	// An answer counts from the question on: it may have changed since.
	now := time.Now()
	said, err := r.reviews.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Group: q.resource.Group, Resource: q.resource.Resource, Namespace: q.namespace},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("ask what a user may list: %w", err)
	}
	allowed := said.Status.Allowed && !said.Status.Denied
	until := now.Add(refusedFor)
	if allowed {
		until = now.Add(allowedFor)
	}
	r.remember(q, answer{allowed, until})
	return allowed, nil
}

func (r *Rights) remember(q question, a answer) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.answers) >= maxAnswers {
		now := time.Now()
		maps.DeleteFunc(r.answers, func(_ question, old answer) bool { return !now.Before(old.until) })
	}
	if len(r.answers) >= maxAnswers {
		clear(r.answers) // asking again is cheap
	}
	r.answers[q] = a
}
