package login

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/access"
)

// Acting lets users act.
type Acting struct {
	// Base is how the resource cluster is reached; its credentials are those of the server.
	Base *rest.Config
	// Groups are those in which users of an issuer or a proxy act; "*" is all of a login. The server
	// has to have the right to impersonate them.
	Groups []string
	// New returns what acts over a connection that has the rights of one user.
	New func(config *rest.Config, user string) (console.Actor, error)
}

// everyGroup stands for all groups of a login.
const everyGroup = "*"

// masters is the group that may do everything, whatever the roles say.
const masters = "system:masters"

// configOf returns the connection of a user: with a token of the resource cluster, that one, so that
// the server needs no right for it; else the server's, in the name of the user.
func (a *Acting) configOf(s session, user access.User) (*rest.Config, error) {
	if s.Token != "" {
		config := rest.AnonymousClientConfig(a.Base)
		config.BearerToken, config.UserAgent = s.Token, userAgent
		return config, nil
	}
	config := rest.CopyConfig(a.Base)
	config.UserAgent = userAgent
	config.Impersonate = rest.ImpersonationConfig{UserName: user.Username, UID: user.UID, Extra: map[string][]string{}}
	for key, value := range user.Extra {
		config.Impersonate.Extra[key] = value
	}
	for _, group := range user.Groups {
		// The API server adds this one itself.
		if group != authenticated && (slices.Contains(a.Groups, group) || slices.Contains(a.Groups, everyGroup)) {
			config.Impersonate.Groups = append(config.Impersonate.Groups, group)
		}
	}
	// Names of the cluster itself were refused at the login. Without a name, the server would act as
	// itself.
	if user.Username == "" || strings.HasPrefix(user.Username, reserved) || slices.ContainsFunc(config.Impersonate.Groups, func(group string) bool { return strings.HasPrefix(group, reserved) }) {
		return nil, errors.New("the console does not act as users of Kubernetes itself, or for " + masters)
	}
	return config, nil
}

// userAgent is how audit logs and managed fields name what was done from a page.
const userAgent = "landscaper-console"

// Actor implements console.Visitor.
func (v *visitor) Actor(_ *http.Request) (console.Actor, error) {
	acting := v.entrance.acting
	if acting == nil {
		return nil, nil
	}
	config, err := acting.configOf(v.session, v.user)
	if err != nil {
		return nil, &console.Refusal{Status: http.StatusForbidden, Text: err.Error()}
	}
	actor, err := acting.New(config, v.user.Username)
	if err != nil {
		return nil, fmt.Errorf("act as you: %w", err)
	}
	return actor, nil
}
