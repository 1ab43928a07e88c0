// Package garden has a garden with shoots, the TargetSyncs of users, their controller, and its rules.
package garden

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/controller/targetsync"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// shootNames are the shoots that there may be in a garden. A Target of a user has the name of one,
// and the Secret with the access to the garden that of another.
var shootNames = []string{"ap", "eu", "us", "host", AccessName}

// shoot is a cluster of a garden. Another one of the same name has another UID.
type shoot struct {
	uid                string
	deleting, stranded bool
}

// Garden is the source of TargetSyncs, at the other end of a connection.
type Garden struct {
	world  *world.World
	shoots map[string]*shoot
	uids   int
	// tokens is how many tokens it has granted for its ServiceAccount.
	tokens int
	// syncs is the controller of TargetSyncs.
	syncs *targetsync.Reconciler
	// rotations is how often a token may be renewed: users have asked for it, or it is
	// not known when that was done last.
	rotations int
	// meddling says that users have deleted what a TargetSync has made.
	meddling bool
}

// New returns a garden without shoots.
func New(w *world.World) *Garden { return &Garden{world: w, shoots: map[string]*shoot{}} }

// connect returns connections of a process to the garden.
func (g *Garden) connect() *cluster.Pool {
	return cluster.NewPool(cluster.PoolOptions{WrapTransport: func(http.RoundTripper) http.RoundTripper { return g }})
}

// RoundTrip implements http.RoundTripper: a request may be lost, or its answer, or be refused.
func (g *Garden) RoundTrip(request *http.Request) (*http.Response, error) {
	w, p := g.world, g.world.At
	w.Counts.Reads++
	w.Others(p)
	defer w.Others(p)
	before := w.Counts.Faults
	defer func() {
		if strings.Contains(request.URL.Path, "/serviceaccounts/") && (p.Ended() || w.Counts.Faults > before) {
			g.excuseRotation()
		}
	}()
	switch {
	case p.Ended() || w.Fault(world.FaultDown):
		return nil, world.ErrDown
	case w.Fault(world.FaultLost):
		g.say(request)
		return nil, world.ErrLost
	case w.Fault(world.FaultConflict):
		// What refuses credentials may quote some.
		quoted := map[string]string{http.MethodPost: "it was " + world.SecretMark}[request.Method]
		return world.Answer(request, http.StatusServiceUnavailable, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": http.StatusServiceUnavailable, "message": quoted}), nil
	}
	code, said := g.say(request)
	return world.Answer(request, code, said), nil
}

// say is what the garden says, and does.
func (g *Garden) say(request *http.Request) (int, any) {
	parts := strings.Split(request.URL.Path, "/")
	last := parts[len(parts)-1]
	switch {
	case last == "shoots":
		items := []any{}
		for _, name := range shootNames {
			if g.shoots[name] != nil {
				items = append(items, g.shoots[name].object(name))
			}
		}
		return http.StatusOK, map[string]any{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "ShootList", "metadata": map[string]any{"resourceVersion": "10"}, "items": items}
	case last == "adminkubeconfig" && g.shoots[parts[len(parts)-2]] != nil:
		token := world.SecretMark + "-" + g.shoots[parts[len(parts)-2]].uid
		return http.StatusCreated, map[string]any{"status": map[string]any{
			"kubeconfig": base64.StdEncoding.EncodeToString(kubeconfig(token)), "expirationTimestamp": store.Now().Add(24 * time.Hour).Format(time.RFC3339),
		}}
	case last == "token":
		g.tokens++
		return http.StatusCreated, map[string]any{"status": map[string]any{"token": g.token(), "expirationTimestamp": store.Now().Add(90 * 24 * time.Hour).Format(time.RFC3339)}}
	}
	return http.StatusNotFound, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound}
}

func (s *shoot) object(name string) map[string]any {
	metadata := map[string]any{"name": name, "namespace": gardenNamespace, "uid": s.uid, "resourceVersion": "1"}
	if s.deleting {
		metadata["deletionTimestamp"] = store.Now().Format(time.RFC3339)
	}
	object := map[string]any{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "metadata": metadata}
	if !s.stranded {
		object["status"] = map[string]any{"advertisedAddresses": []any{map[string]any{"name": "external", "url": "https://api.example.org"}}}
	}
	return object
}

// token is one with a lifetime, and no two are alike.
func (g *Garden) token() string {
	claims := fmt.Appendf(nil, `{"iat":%d,"exp":%d,"jti":"%d"}`, store.Now().Unix(), store.Now().Add(90*24*time.Hour).Unix(), g.tokens)
	return "e30." + base64.RawURLEncoding.EncodeToString(claims) + "." + world.SecretMark
}

func kubeconfig(token string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"sync-bot"}}],`+
		`"clusters":[{"name":"c","cluster":{"server":"https://garden.example.org"}}],"users":[{"name":"sync-bot","user":{"token":%q}}]}`, token)
}

// tokenIn returns the token of a kubeconfig.
func tokenIn(kubeconfig []byte) (string, error) {
	var read struct {
		Users []struct {
			User struct {
				Token string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := json.Unmarshal(kubeconfig, &read); err != nil {
		return "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	if len(read.Users) != 1 {
		return "", errors.New("the kubeconfig has not one user")
	}
	return read.Users[0].User.Token, nil
}
