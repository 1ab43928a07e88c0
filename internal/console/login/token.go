package login

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/console/access"
)

const (
	// reviewedFor is how long the review of a token counts: a token that is not valid any more ends its
	// session then.
	reviewedFor = time.Minute
	// maxReviewed bounds the reviews that are remembered.
	maxReviewed = 5000
	// maxToken is how long a token may be; a longer one has no place in a cookie.
	maxToken = 2700
	// maxGuesses is how many tokens of strangers are reviewed at the same time.
	maxGuesses    = 4
	reviewTimeout = 10 * time.Second
)

var errToken = errors.New("the resource cluster does not know the token")

// TokenReviews asks whose a token is; it is that of a client for the resource cluster.
type TokenReviews interface {
	Create(ctx context.Context, review *authenticationv1.TokenReview, options metav1.CreateOptions) (*authenticationv1.TokenReview, error)
}

// tokens knows whose a token is.
type tokens struct {
	reviews TokenReviews
	guesses chan struct{}

	mutex    sync.Mutex
	accepted map[[sha256.Size]byte]reviewed
}

type reviewed struct {
	user  access.User
	until time.Time
}

func newTokens(reviews TokenReviews) *tokens {
	return &tokens{reviews: reviews, guesses: make(chan struct{}, maxGuesses), accepted: map[[sha256.Size]byte]reviewed{}}
}

// whose returns the owner of a token, as the resource cluster has said within the last minute.
func (t *tokens) whose(ctx context.Context, token string) (access.User, error) {
	key := sha256.Sum256([]byte(token))
	t.mutex.Lock()
	known, found := t.accepted[key]
	t.mutex.Unlock()
	now := time.Now()
	if found && now.Before(known.until) {
		return known.user, nil
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	said, err := t.reviews.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return access.User{}, fmt.Errorf("ask whose a token is: %w", err)
	}
	if !said.Status.Authenticated || said.Status.User.Username == "" {
		return access.User{}, errToken
	}
	t.remember(key, reviewed{said.Status.User, now.Add(reviewedFor)})
	return said.Status.User, nil
}

func (t *tokens) remember(key [sha256.Size]byte, known reviewed) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if len(t.accepted) >= maxReviewed {
		maps.DeleteFunc(t.accepted, func(_ [sha256.Size]byte, old reviewed) bool { return !time.Now().Before(old.until) })
	}
	if len(t.accepted) >= maxReviewed {
		clear(t.accepted) // asking again is cheap
	}
	t.accepted[key] = known
}

// postToken logs in with the token of a form.
func (e *Entrance) postToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	token, to := strings.TrimSpace(r.PostFormValue("token")), local(r.PostFormValue("to"))
	switch {
	case token == "":
		e.page(w, http.StatusBadRequest, to, "Enter a token.")
		return
	case len(token) > maxToken:
		e.page(w, http.StatusBadRequest, to, fmt.Sprintf("The token is longer than %d characters. Use a token of a ServiceAccount.", maxToken))
		return
	}
	// Strangers cost few requests at a time; those who are logged in do not wait for them.
	select {
	case e.tokens.guesses <- struct{}{}:
		defer func() { <-e.tokens.guesses }()
	default:
		e.page(w, http.StatusTooManyRequests, to, "Too many users log in at once: try again.")
		return
	}
	user, err := e.tokens.whose(r.Context(), token)
	switch {
	case errors.Is(err, errToken):
		e.page(w, http.StatusForbidden, to, "The cluster does not know this token, or it is not valid any more.")
		return
	case err != nil:
		e.log.Error(err, "a login by a token has failed")
		e.page(w, http.StatusServiceUnavailable, to, "The cluster does not answer: try again.")
		return
	}
	if err := e.begin(w, session{Token: token}); err != nil {
		e.page(w, http.StatusBadRequest, to, "The token is too long. Use a token of a ServiceAccount.")
		return
	}
	e.log.Info("a user has logged in", "user", user.Username, "by", "token")
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // local has made it a page of the console
}
