package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/preview"
	"go.landscaper.dev/internal/server/listen"
)

// ConsoleKeySecret is the Secret in the namespace of the server with the key of the console's cookies.
const ConsoleKeySecret = "landscaper-console-key"

const (
	defaultSessionTime = 8 * time.Hour
	maxSessionTime     = 7 * 24 * time.Hour
)

// ConsoleConfig is the console that this process serves to browsers.
type ConsoleConfig struct {
	// Address is where it listens; without one, or with "0", there is no console.
	Address string `json:"address"`
	// URL is its address in browsers.
	URL string `json:"url"`
	// TLS are files with a certificate and its key. Without them, a proxy in front of the console
	// has to serve TLS.
	TLS struct {
		Certificate string `json:"certificate"`
		Key         string `json:"key"`
	} `json:"tls"`
	// SessionKey is a file with the key of the cookies. Without it, the server makes one for all
	// replicas.
	SessionKey string `json:"sessionKey"`
	// SessionTime is how long a session lasts.
	SessionTime *v1alpha1.Duration `json:"sessionTime"`
	// Login is how users come in.
	Login struct {
		// Token lets users log in with a token of the resource cluster.
		Token bool          `json:"token"`
		OIDC  *ConsoleOIDC  `json:"oidc"`
		Proxy *ConsoleProxy `json:"proxy"`
	} `json:"login"`
	// Actions lets users act, with the rights that they have themselves.
	Actions struct {
		Enabled bool `json:"enabled"`
		// Groups are those in which users of an issuer or a proxy act, out of the groups of their
		// login; "*" is all. The server needs the right to impersonate them, and the users.
		Groups []string `json:"groups"`
	} `json:"actions"`
	// Plans lets users see what a job would change, with the rights that they have themselves. Those of
	// an issuer or a proxy have them in the groups of Actions.
	Plans struct {
		Enabled bool `json:"enabled"`
	} `json:"plans"`
}

// ConsoleNames is how users and groups of others are called in the resource cluster.
type ConsoleNames struct {
	UsernamePrefix string `json:"usernamePrefix"`
	GroupsPrefix   string `json:"groupsPrefix"`
}

// ConsoleOIDC is an issuer of OpenID Connect.
type ConsoleOIDC struct {
	ConsoleNames
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientID"`
	// ClientSecret is a file; a public client has none.
	ClientSecret string `json:"clientSecret"`
	// Scopes are asked for besides openid.
	Scopes        []string `json:"scopes"`
	UsernameClaim string   `json:"usernameClaim"`
	GroupsClaim   string   `json:"groupsClaim"`
	// CertificateAuthorities is a file with those of the issuer (PEM); without it, those of the system
	// count.
	CertificateAuthorities string `json:"certificateAuthorities"`
}

// ConsoleProxy is a proxy in front of the console that has authenticated its users.
type ConsoleProxy struct {
	ConsoleNames
	UsernameHeader  string `json:"usernameHeader"`
	GroupsHeader    string `json:"groupsHeader"`
	GroupsSeparator string `json:"groupsSeparator"`
	// Secret is a file with what the proxy sends in SecretHeader.
	SecretHeader string `json:"secretHeader"`
	Secret       string `json:"secret"`
	// CertificateAuthorities is a file with those of the client certificate of the proxy (PEM), and
	// CertificateNames are its names in that.
	CertificateAuthorities string   `json:"certificateAuthorities"`
	CertificateNames       []string `json:"certificateNames"`
}

// Enabled reports whether there is a console.
func (c *ConsoleConfig) Enabled() bool { return c.Address != "" && c.Address != "0" }

// consoleCaches confines what only the console watches: of all events, those about our kinds.
func (c *Config) consoleCaches() map[client.Object]cache.ByObject {
	if !c.Console.Enabled() {
		return nil
	}
	about := fields.OneTermEqualSelector("involvedObject.apiVersion", v1alpha1.GroupVersion.String())
	return map[client.Object]cache.ByObject{&corev1.Event{}: {Field: about}}
}

// ConsoleHost is what the process lends to its console.
type ConsoleHost struct {
	Config  ConsoleConfig
	Manager manager.Manager
	// Key is the key of the cookies.
	Key         []byte
	SessionTime time.Duration
	// ClientSecret and ProxySecret are what the files have; IssuerAuthorities is nil for those of the
	// system.
	ClientSecret, ProxySecret []byte
	IssuerAuthorities         *x509.CertPool
	// Disconnected returns why the caches may be out of date.
	Disconnected func() error
	// Listen serves the console as long as the manager runs.
	Listen func(http.Handler) error
	// Previewer returns what works out a plan with the rights of one user: those of the reader, and of
	// the connection. What it returns besides ends it.
	Previewer func(reader client.Reader, own *rest.Config) (*preview.Previewer, func())
}

// addConsole adds the console, if one is wanted.
func addConsole(ctx context.Context, to manager.Manager, config Config, watches *watches, library *library) error {
	if !config.Console.Enabled() {
		return nil
	}
	if config.AddConsole == nil {
		return errors.New("console.address is set, and this program has no console")
	}
	host, err := newConsoleHost(ctx, to, config)
	if err != nil {
		return err // says which field it is
	}
	host.Previewer = previews(config, library)
	host.Disconnected = func() error {
		if len(watches.troubles()) > 0 {
			// Which ones says what the reader may not know.
			return errors.New("a watch of the server has failed")
		}
		return nil
	}
	return config.AddConsole(ctx, *host)
}

func newConsoleHost(ctx context.Context, to manager.Manager, config Config) (*ConsoleHost, error) {
	console := config.Console
	host := &ConsoleHost{Config: console, Manager: to, SessionTime: defaultSessionTime}
	if console.SessionTime != nil {
		host.SessionTime, _ = console.SessionTime.Parsed() // it was validated
	}
	var errs []error
	read := func(field, path string) []byte {
		if path == "" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil && len(bytes.TrimSpace(content)) == 0 {
			err = fmt.Errorf("%s is empty", path)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("console.%s: %w", field, err))
		}
		return bytes.TrimSpace(content)
	}
	authorities := func(field, path string) *x509.CertPool {
		content, pool := read(field, path), x509.NewCertPool()
		if len(content) == 0 {
			return nil
		}
		if !pool.AppendCertsFromPEM(content) {
			errs = append(errs, fmt.Errorf("console.%s: %s holds no certificate in PEM form", field, path))
		}
		return pool
	}
	var proxies *x509.CertPool
	host.Key = read("sessionKey", console.SessionKey)
	if oidc := console.Login.OIDC; oidc != nil {
		host.ClientSecret = read("login.oidc.clientSecret", oidc.ClientSecret)
		host.IssuerAuthorities = authorities("login.oidc.certificateAuthorities", oidc.CertificateAuthorities)
	}
	if proxy := console.Login.Proxy; proxy != nil {
		host.ProxySecret = read("login.proxy.secret", proxy.Secret)
		proxies = authorities("login.proxy.certificateAuthorities", proxy.CertificateAuthorities)
	}
	if console.SessionKey == "" {
		var err error
		if host.Key, err = consoleKey(ctx, to, config.Namespace); err != nil {
			errs = append(errs, err)
		}
	}
	host.Listen = func(handler http.Handler) error { return listenConsole(to, console, proxies, handler) }
	return host, errors.Join(errs...)
}

// consoleKey is the key that all replicas share. Outside of a cluster, sessions end with the process.
func consoleKey(ctx context.Context, of manager.Manager, namespace string) ([]byte, error) {
	if namespace == "" {
		key := make([]byte, keySize)
		_, _ = rand.Read(key) // it never fails
		return key, nil
	}
	return secretKey(ctx, of.GetAPIReader(), of.GetClient(), namespace, ConsoleKeySecret, "sessions of the console")
}

// consoleLimits suit a proxy that brings all users from one address.
var consoleLimits = listen.Limits{Total: 512, PerClient: 512}

func listenConsole(to manager.Manager, console ConsoleConfig, proxies *x509.CertPool, handler http.Handler) error {
	endpoint := listen.Endpoint{Name: "console", Address: console.Address, Handler: handler, Limits: consoleLimits}
	certificates, err := renewed(to, console.TLS.Certificate, console.TLS.Key)
	if err != nil {
		return fmt.Errorf("console.tls: %w", err)
	}
	if endpoint.Certificates = certificates; certificates != nil && proxies != nil {
		certificates.ClientCAs, certificates.ClientAuth = proxies, tls.VerifyClientCertIfGiven
	}
	return listen.Add(to, endpoint)
}

// validate checks the configuration of a console that is wanted. What an address in browsers may be,
// the console says.
func (c *ConsoleConfig) validate() error {
	if !c.Enabled() {
		return nil
	}
	var errs []error
	wrong := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("console."+field+" "+format, args...))
	}
	if c.URL == "" {
		wrong("url", "is missing: write the address of the console in browsers, such as https://console.example.org")
	}
	if (c.TLS.Certificate == "") != (c.TLS.Key == "") {
		wrong("tls", "needs both certificate and key, or none of them")
	}
	if c.SessionTime != nil {
		if limit, err := c.SessionTime.Parsed(); err != nil || limit < time.Minute || limit > maxSessionTime {
			wrong("sessionTime", "is not a time from 1m to %s", maxSessionTime)
		}
	}
	if !c.Login.Token && c.Login.OIDC == nil && c.Login.Proxy == nil {
		wrong("login", "has no way in: set token, oidc or proxy")
	}
	for _, group := range c.Actions.Groups {
		if group == "" || strings.HasPrefix(group, "system:") {
			wrong("actions.groups", "has %q: the console does not act for groups of Kubernetes itself", group)
		}
	}
	if oidc := c.Login.OIDC; oidc != nil {
		errs = append(errs, oidc.validate()...)
	}
	if proxy := c.Login.Proxy; proxy != nil {
		errs = append(errs, proxy.validate(c.TLS.Certificate != "")...)
	}
	return errors.Join(errs...)
}

func (c *ConsoleOIDC) validate() []error {
	var errs []error
	for _, needed := range []struct{ field, value string }{{"issuer", c.Issuer}, {"clientID", c.ClientID}} {
		if needed.value == "" {
			errs = append(errs, fmt.Errorf("console.login.oidc.%s is missing", needed.field))
		}
	}
	if c.Issuer != "" && !strings.HasPrefix(c.Issuer, "https://") {
		errs = append(errs, fmt.Errorf("console.login.oidc.issuer is %q: it has to begin with https://", c.Issuer))
	}
	return append(errs, c.ConsoleNames.validate("oidc")...)
}

func (c *ConsoleProxy) validate(encrypted bool) []error {
	var errs []error
	wrong := func(text string) { errs = append(errs, errors.New("console.login.proxy."+text)) }
	if c.UsernameHeader == "" {
		wrong("usernameHeader is missing")
	}
	if c.Secret == "" && c.CertificateAuthorities == "" {
		// Otherwise every client that reaches the address could say who it is.
		wrong("secret is missing, and so is certificateAuthorities: set one of them, by which the proxy proves itself")
	}
	if (c.Secret == "") != (c.SecretHeader == "") {
		wrong("secretHeader and secret need each other")
	}
	if (c.CertificateAuthorities == "") != (len(c.CertificateNames) == 0) {
		wrong("certificateAuthorities and certificateNames need each other")
	}
	if c.CertificateAuthorities != "" && !encrypted {
		wrong("certificateAuthorities needs console.tls: the console has to see the certificate itself")
	}
	return append(errs, c.ConsoleNames.validate("proxy")...)
}

func (c *ConsoleNames) validate(login string) []error {
	var errs []error
	for _, prefix := range []struct{ field, value string }{{"usernamePrefix", c.UsernamePrefix}, {"groupsPrefix", c.GroupsPrefix}} {
		if strings.HasPrefix(prefix.value, "system:") {
			errs = append(errs, fmt.Errorf("console.login.%s.%s is %q: names that begin with system: are those of Kubernetes", login, prefix.field, prefix.value))
		}
	}
	return errs
}
