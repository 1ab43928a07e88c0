package supervisor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"go.landscaper.dev/lab/internal/kube"
)

// users are the users with tokens that were added to a cluster while it runs.
// The API server reads its token file only once, so it asks the supervisor.
type users struct {
	mu      sync.Mutex
	byToken map[string]user
}

type user struct {
	Name   string   `json:"username"`
	Groups []string `json:"groups,omitempty"`
}

func (u *users) add(token string, who user) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byToken == nil {
		u.byToken = map[string]user{}
	}
	u.byToken[token] = who
}

// remove makes the tokens of a user invalid and says whether there were any.
func (u *users) remove(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	found := false
	for token, who := range u.byToken {
		if who.Name == name {
			delete(u.byToken, token)
			found = true
		}
	}
	return found
}

func (u *users) find(token string) (user, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	who, found := u.byToken[token]
	return who, found
}

// writeTokenWebhook configures where the cluster's API server asks about tokens.
func (s *Supervisor) writeTokenWebhook(c *cluster) (file string, err error) {
	file = s.instance.Path("clusters", c.Name, "pki", "token-webhook.kubeconfig")
	return file, kube.Access{
		Server: s.contact.URL + "/v1/clusters/" + c.Name + "/tokenreview",
		CA:     s.authority.CertPEM, Cluster: "supervisor", User: "apiserver", Token: s.contact.Token,
	}.Write(file)
}

// tokenReview answers an API server that wants to know whose token it was shown.
func (s *Supervisor) tokenReview(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Spec       struct {
			Token string `json:"token"`
		} `json:"spec"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		fail(w, invalid{fmt.Errorf("decode the token review: %w", err)})
		return
	}
	c, err := s.cluster(r.PathValue("cluster"))
	if err != nil {
		fail(w, err)
		return
	}
	who, known := c.users.find(review.Spec.Token)
	status := map[string]any{"authenticated": known}
	if known {
		status["user"] = who
	}
	answer(w, map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "status": status})
}
