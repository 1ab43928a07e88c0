package chart

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/pemkey"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/deploy/itemcontext"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// credentialsKey is where the configurations of a Context have the credentials for
// chart repositories.
const credentialsKey = "helmChartRepoCredentials"

// sources reads the Context of an item, with the credentials for registries.
func (l *Loader) sources(ctx context.Context, item *v1alpha1.DeployItem) (*repocontext.Sources, error) {
	from := itemcontext.Origins{Contexts: l.options.Contexts, Sources: l.options.Sources, Components: l.options.Components}
	return from.Of(ctx, item, operation) // names the Context
}

// repositorySources reads the same with the credentials for chart repositories.
func (l *Loader) repositorySources(ctx context.Context, item *v1alpha1.DeployItem) (*repocontext.Sources, error) {
	from, err := l.sources(ctx, item)
	if err != nil {
		return nil, err
	}
	given, exists := from.Context.Configurations[credentialsKey]
	if !exists {
		return from, nil
	}
	fail := func(err error) (*repocontext.Sources, error) {
		return nil, job.Wrap(err, published.NewHelmChartRepoClient, reasons.ParsingAuths, fmt.Sprintf("configurations.%s of Context %s", credentialsKey, from.Context.Name))
	}
	var credentials helmv1alpha1.ChartRepoCredentials
	if err := yamltext.Unmarshal(given.RawMessage, yamltext.Lenient(), &credentials); err != nil {
		return fail(withCode(err))
	}
	for i, auth := range credentials.Auths {
		if err := addAuth(ctx, from, auth); err != nil {
			return fail(fmt.Errorf("auths[%d]: %w", i, withCode(err)))
		}
	}
	return from, nil
}

// open opens what a Context leads to, and says whose signatures count there. The session
// is to be closed.
func (l *Loader) open(ctx context.Context, from *repocontext.Sources) (*component.Session, *trust, error) {
	trust, err := trustOf(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	return component.NewSession(l.options.Components, from.Options), trust, nil
}

// withCode marks an error about the content of the Context. An API server that does not answer is
// another error.
func withCode(err error) error {
	var unread *repocontext.ReadError
	if errors.As(err, &unread) {
		return err
	}
	return job.Wrap(err, published.NewHelmChartRepoClient, reasons.ParsingAuths, "", v1alpha1.ErrorConfigurationProblem)
}

// addAuth adds the credentials for one chart repository: for its host, scheme and
// port, and for its path and what is below.
func addAuth(ctx context.Context, from *repocontext.Sources, auth helmv1alpha1.ChartRepoAuth) error {
	identity, err := identityOf(auth.URL)
	if err != nil {
		return err
	}
	properties := credential.Properties{}
	if auth.CustomCAData != "" {
		if properties[credential.Authority], err = authorities(auth.CustomCAData); err != nil {
			return fmt.Errorf("customCAData: %w", err)
		}
	}
	header := auth.AuthHeader
	switch {
	case header != "" && auth.SecretRef != nil:
		return errors.New("failed to get auth header: authHeader and secretRef are both set: keep one of them")
	case auth.SecretRef != nil:
		key := auth.SecretRef.Key
		if key == "" {
			key = "authHeader"
		}
		content, err := from.Secret(ctx, auth.SecretRef.Name, key)
		if err != nil {
			return fmt.Errorf("failed to get auth header: secretRef: %w", err)
		}
		header = string(content)
	case header == "" && auth.CustomCAData == "":
		return errors.New("failed to get auth header: set authHeader or secretRef")
	}
	if header != "" {
		if properties[credential.Username], properties[credential.Password], err = basicAuth(header); err != nil {
			return err
		}
	}
	from.Options.Registry.Credentials.AddConsumer(identity, properties)
	return nil
}

// identityOf says for which requests an entry is. Nothing is left open: an entry for
// https is not for http, nor for another port.
func identityOf(address string) (map[string]string, error) {
	given, err := access.NewChartRepository(address)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	at := given.URL()
	port := at.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[at.Scheme]
	}
	return map[string]string{
		"type": credential.TypeHelmRepository, "hostname": at.Hostname(), "port": port, "scheme": at.Scheme, "pathprefix": at.Path,
	}, nil
}

// authorities returns certificates in PEM form, which may be in base64 once more.
func authorities(text string) (string, error) {
	if !strings.Contains(text, "-----BEGIN") {
		decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			return "", errors.New("it is neither a certificate in PEM form nor one in base64")
		}
		text = string(decoded)
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		return "", errors.New("it holds no certificate in PEM form")
	}
	if err := pemkey.CheckAll([]byte(text)); err != nil {
		return "", err // says what is too large
	}
	return text, nil
}

// basicAuth reads the value of an Authorization header.
func basicAuth(header string) (string, string, error) {
	scheme, encoded, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", errors.New("only basic auth supported: the value must be Basic and, behind a blank, base64 of user:password")
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	user, password, found := strings.Cut(string(decoded), ":")
	if err != nil || !found || user == "" {
		return "", "", errors.New("the value of the auth header must be Basic and, behind a blank, base64 of user:password")
	}
	return user, password, nil
}

// redacted returns an address without what may be a credential.
func redacted(address string) string {
	parsed, err := url.Parse(strings.TrimSuffix(strings.TrimSpace(address), "/"))
	if err != nil {
		return "the address"
	}
	parsed.User, parsed.RawQuery, parsed.Fragment = nil, "", ""
	return parsed.String()
}
