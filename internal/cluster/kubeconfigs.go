package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/login"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Kubeconfigs makes kubeconfigs through the Targets that an Installation imports. Templates pass
// Targets as values, so such a value only selects one of the imported Targets: otherwise, a
// blueprint could use each Secret of the namespace.
type Kubeconfigs struct {
	pool      *Pool
	namespace string
	imported  []*v1alpha1.Target
}

// NewKubeconfigs returns the Kubeconfigs for the templates of an Installation in a namespace,
// through the Targets that it imports.
func NewKubeconfigs(pool *Pool, namespace string, imported []*v1alpha1.Target) *Kubeconfigs {
	return &Kubeconfigs{pool: pool, namespace: namespace, imported: imported}
}

// ShootAdminKubeconfig requests an administrator's kubeconfig for a shoot.
func (k *Kubeconfigs) ShootAdminKubeconfig(ctx context.Context, target *v1alpha1.Target, shoot, namespace string, expiration time.Duration) ([]byte, time.Time, error) {
	from, err := k.source(ctx, target)
	if err != nil {
		return nil, time.Time{}, err
	}
	kubeconfig, expires, err := from.connection.ShootAdminKubeconfig(ctx, namespace, shoot, expiration)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("request a kubeconfig for a shoot from the cluster of Target %s: %w", from.title, err)
	}
	return kubeconfig, expires, nil
}

// ServiceAccountKubeconfig requests a token of a ServiceAccount and returns the
// Target's kubeconfig with it.
func (k *Kubeconfigs) ServiceAccountKubeconfig(ctx context.Context, target *v1alpha1.Target, name, namespace string, expiration time.Duration) ([]byte, time.Time, error) {
	from, err := k.source(ctx, target)
	if err != nil {
		return nil, time.Time{}, err
	}
	token, expires, err := from.connection.ServiceAccountToken(ctx, namespace, name, expiration)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("request a token of a ServiceAccount from the cluster of Target %s: %w", from.title, err)
	}
	kubeconfig, err := from.withUser(name, &clientcmdapi.AuthInfo{Token: token})
	return kubeconfig, expires, err
}

// OIDCKubeconfig returns the Target's kubeconfig with a user who logs in at an
// identity provider. The cluster is not asked.
func (k *Kubeconfigs) OIDCKubeconfig(ctx context.Context, target *v1alpha1.Target, issuer, clientID string) ([]byte, error) {
	from, err := k.source(ctx, target)
	if err != nil {
		return nil, err
	}
	return from.withUser("oidc-login", &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1beta1",
		Command:    "kubectl",
		Args: []string{
			"oidc-login", "get-token",
			"--oidc-issuer-url=" + issuer, "--oidc-client-id=" + clientID,
			"--oidc-extra-scope=email", "--oidc-extra-scope=profile", "--oidc-extra-scope=offline_access",
			"--oidc-use-pkce", "--grant-type=auto",
		},
	}})
}

// source is the cluster of a Target and the kubeconfig that leads there.
type source struct {
	title      string
	kubeconfig *login.Kubeconfig
	connection *Connection
}

func (k *Kubeconfigs) source(ctx context.Context, target *v1alpha1.Target) (*source, error) {
	target, err := k.own(target)
	if err != nil {
		return nil, err
	}
	config, err := k.pool.config(ctx, target)
	if err != nil {
		return nil, err
	}
	if config.Kubeconfig.StrVal == nil {
		return nil, invalidTarget(target, errors.New("it holds no kubeconfig, which templates need for making another one: oidcConfig and selfConfig have none"))
	}
	from := &source{title: target.Namespace + "/" + target.Name}
	if from.kubeconfig, err = login.ReadKubeconfig([]byte(*config.Kubeconfig.StrVal)); err != nil {
		return nil, invalidTarget(target, err)
	}
	meant, err := login.OfKubeconfig(from.kubeconfig, *config.Kubeconfig.StrVal, k.pool.terms())
	if err != nil {
		return nil, invalidTarget(target, err)
	}
	from.connection, err = k.pool.connection(meant)
	return from, err
}

// own returns the imported Target that a template means.
func (k *Kubeconfigs) own(meant *v1alpha1.Target) (*v1alpha1.Target, error) {
	for _, imported := range k.imported {
		sameName := imported.Name == meant.Name && (meant.Namespace == "" || imported.Namespace == meant.Namespace)
		if sameName && imported.UID == meant.UID && imported.Namespace == k.namespace {
			return imported, nil
		}
	}
	// The message does not repeat the template's value: it may hold anything.
	return nil, job.NewError(resolveTarget, reasons.ValidateTarget, "the function was called with a Target that the Installation does not import: import it, and pass the whole object from .imports", v1alpha1.ErrorConfigurationProblem)
}

// withUser returns the Target's kubeconfig with another user.
func (s *source) withUser(name string, user *clientcmdapi.AuthInfo) ([]byte, error) {
	text, err := s.kubeconfig.WithUser(name, user)
	if err != nil {
		return nil, fmt.Errorf("encode a kubeconfig for the cluster of Target %s: %w", s.title, err)
	}
	return text, nil
}
