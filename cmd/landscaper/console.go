package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/kubernetes"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/access"
	"go.landscaper.dev/internal/console/act"
	"go.landscaper.dev/internal/console/incluster"
	"go.landscaper.dev/internal/console/login"
	"go.landscaper.dev/internal/console/planner"
	"go.landscaper.dev/internal/preview"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/server"
	"go.landscaper.dev/internal/server/listen"
)

const (
	// consoleQPS and consoleBurst bound the reviews for all users: those of the controllers do not wait
	// for them.
	consoleQPS, consoleBurst = 100, 200
	// actorQPS and actorBurst bound one request of a user who acts.
	actorQPS, actorBurst = 20, 40
	// consoleCollects is how long changes are collected that follow others: pages of many users take no
	// more of a busy server than once a second.
	consoleCollects = time.Second
	// planLimit is how long a plan may take.
	planLimit = time.Minute
	// issuerTimeout limits a request to an issuer.
	issuerTimeout = 10 * time.Second
)

// addConsole makes the console of a server.
func addConsole(ctx context.Context, host server.ConsoleHost) error {
	reviews := rest.CopyConfig(host.Manager.GetConfig())
	reviews.QPS, reviews.Burst, reviews.RateLimiter = consoleQPS, consoleBurst, nil
	clients, err := kubernetes.NewForConfig(reviews)
	if err != nil {
		return fmt.Errorf("make a client that asks what users may see: %w", err)
	}
	address, err := login.ParseURL(host.Config.URL)
	if err != nil {
		return fmt.Errorf("console.url is %q: %w", host.Config.URL, err)
	}
	options := login.Options{
		URL: host.Config.URL, Key: host.Key, SessionTime: host.SessionTime, OIDC: issuerOf(host), Proxy: proxyOf(host),
		Rights: access.New(clients.AuthorizationV1().SubjectAccessReviews()),
		Trust:  listen.Trust, Log: host.Manager.GetLogger().WithName("console"),
	}
	if host.Config.Login.Token {
		options.Tokens = clients.AuthenticationV1().TokenReviews()
	}
	if host.Config.Actions.Enabled || host.Config.Plans.Enabled {
		options.Acting = actingOf(host)
	}
	entrance, err := login.New(options)
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	source, err := incluster.New(ctx, host.Manager.GetCache(), host.Disconnected)
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	handler, err := console.New(ctx, console.Options{Source: source, Where: address.Host, Entrance: entrance, Collect: consoleCollects})
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	return host.Listen(handler)
}

// actingOf lets users act, and look at plans, with their own rights. No client of the server is lent to
// them.
func actingOf(host server.ConsoleHost) *login.Acting {
	log := host.Manager.GetLogger().WithName("console")
	plans := plansOf(host)
	return &login.Acting{
		Base: host.Manager.GetConfig(), Groups: host.Config.Actions.Groups,
		New: func(config *rest.Config, user string) (console.Actor, error) {
			config.QPS, config.Burst, config.RateLimiter = actorQPS, actorBurst, nil
			c, err := client.New(config, client.Options{Scheme: host.Manager.GetScheme(), Mapper: host.Manager.GetRESTMapper()})
			if err != nil {
				return nil, fmt.Errorf("make a client of the user: %w", err)
			}
			if !host.Config.Actions.Enabled {
				return act.PlansOnly{Plans: plans(c, config), Client: c}, nil
			}
			reviews, err := authorizationv1.NewForConfig(config)
			if err != nil {
				return nil, fmt.Errorf("make a client that asks what the user may do: %w", err)
			}
			return act.New(c, reviews.SelfSubjectAccessReviews(), plans(c, config), func(request console.Request, err error) {
				result := "done"
				if err != nil {
					result = err.Error()
				}
				log.Info("a user has acted", "user", user, "action", request.Action, "installation", request.Namespace+"/"+request.Name, "result", result)
			}), nil
		},
	}
}

// plansOf returns what works out plans with the rights of one user; nil without plans. All plans together
// have one of the processes for foreign work, so that jobs keep the others.
func plansOf(host server.ConsoleHost) func(client.Client, *rest.Config) console.Planner {
	if !host.Config.Plans.Enabled {
		return func(client.Client, *rest.Config) console.Planner { return nil }
	}
	share := sandbox.NewShare(1)
	return func(c client.Client, config *rest.Config) console.Planner {
		reader := planner.Own(c)
		return planner.Planner{
			Reader: reader, Limit: planLimit, Explain: planner.Explained(planLimit), Within: share.In,
			Previewer: func(context.Context) (*preview.Previewer, func()) { return host.Previewer(reader, config) },
		}
	}
}

// noPrefix is the prefix of names that are used as they are.
const noPrefix = "-"

func issuerOf(host server.ConsoleHost) *login.OIDC {
	config := host.Config.Login.OIDC
	if config == nil {
		return nil
	}
	names := login.Names{UserPrefix: config.UsernamePrefix, GroupsPrefix: config.GroupsPrefix}
	claim := cmp.Or(config.UsernameClaim, "sub")
	switch {
	case names.UserPrefix == noPrefix:
		names.UserPrefix = ""
	case names.UserPrefix == "" && claim != "email":
		// As API servers do: a name means something only together with its issuer.
		names.UserPrefix = config.Issuer + "#"
	}
	return &login.OIDC{
		Issuer: config.Issuer, ClientID: config.ClientID, ClientSecret: string(host.ClientSecret), Scopes: config.Scopes,
		UserClaim: claim, GroupsClaim: config.GroupsClaim, Names: names,
		Client: &http.Client{Timeout: issuerTimeout, Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: issuerTimeout,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: host.IssuerAuthorities},
		}},
	}
}

func proxyOf(host server.ConsoleHost) *login.Proxy {
	config := host.Config.Login.Proxy
	if config == nil {
		return nil
	}
	return &login.Proxy{
		UserHeader: config.UsernameHeader, GroupsHeader: config.GroupsHeader, GroupsSeparator: config.GroupsSeparator,
		SecretHeader: config.SecretHeader, Secret: host.ProxySecret, CertificateNames: config.CertificateNames,
		Names: login.Names{UserPrefix: config.UsernamePrefix, GroupsPrefix: config.GroupsPrefix},
	}
}
