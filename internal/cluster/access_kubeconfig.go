package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

var (
	serviceAccounts = corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	shoots          = schema.GroupVersionResource{Group: "core.gardener.cloud", Version: "v1beta1", Resource: "shoots"}
	adminRequest    = schema.GroupVersionKind{Group: "authentication.gardener.cloud", Version: "v1alpha1", Kind: "AdminKubeconfigRequest"}
	tokenRequest    = authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")
)

// Kubeconfigs makes kubeconfigs through the Targets that an Installation imports.
// Templates write the Targets that they ask with, so that what they write only says
// which of the imported ones is meant: otherwise, a blueprint could use each Secret
// of the namespace.
type Kubeconfigs struct {
	pool      *Pool
	namespace string
	imported  []*v1alpha1.Target
}

// NewKubeconfigs returns what makes kubeconfigs for the templates of an Installation
// in a namespace, through the Targets that it imports.
func NewKubeconfigs(pool *Pool, namespace string, imported []*v1alpha1.Target) *Kubeconfigs {
	return &Kubeconfigs{pool: pool, namespace: namespace, imported: imported}
}

// ShootAdminKubeconfig requests an administrator's kubeconfig for a shoot.
func (k *Kubeconfigs) ShootAdminKubeconfig(ctx context.Context, target *v1alpha1.Target, shoot, namespace string, expiration time.Duration) ([]byte, time.Time, error) {
	from, err := k.source(ctx, target)
	if err != nil {
		return nil, time.Time{}, err
	}
	var answer struct {
		Status struct {
			Kubeconfig          []byte      `json:"kubeconfig"`
			ExpirationTimestamp metav1.Time `json:"expirationTimestamp"`
		} `json:"status"`
	}
	err = from.request(ctx, shoots, namespace, shoot, "adminkubeconfig", adminRequest, expiration, &answer)
	if err == nil && len(answer.Status.Kubeconfig) == 0 {
		err = errors.New("the answer has no kubeconfig")
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("request a kubeconfig for a shoot from the cluster of Target %s: %w", from.title, err)
	}
	return answer.Status.Kubeconfig, answer.Status.ExpirationTimestamp.Time, nil
}

// ServiceAccountKubeconfig requests a token of a ServiceAccount and returns the
// Target's kubeconfig with it.
func (k *Kubeconfigs) ServiceAccountKubeconfig(ctx context.Context, target *v1alpha1.Target, name, namespace string, expiration time.Duration) ([]byte, time.Time, error) {
	from, err := k.source(ctx, target)
	if err != nil {
		return nil, time.Time{}, err
	}
	var answer authenticationv1.TokenRequest
	err = from.request(ctx, serviceAccounts, namespace, name, "token", tokenRequest, expiration, &answer)
	if err == nil && answer.Status.Token == "" {
		err = errors.New("the answer has no token")
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("request a token of a ServiceAccount from the cluster of Target %s: %w", from.title, err)
	}
	kubeconfig, err := from.withUser(name, &clientcmdapi.AuthInfo{Token: answer.Status.Token})
	return kubeconfig, answer.Status.ExpirationTimestamp.Time, err
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
	kubeconfig *kubeContext
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
	if from.kubeconfig, err = loadKubeconfig([]byte(*config.Kubeconfig.StrVal)); err != nil {
		return nil, invalidTarget(target, err)
	}
	access, err := kubeconfigAccess(from.kubeconfig, *config.Kubeconfig.StrVal, k.pool.terms())
	if err != nil {
		return nil, invalidTarget(target, err)
	}
	from.connection, err = k.pool.connection(access)
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
	// What the template wrote is not repeated: it may hold anything.
	return nil, job.NewError(resolveTarget, "ValidateTarget", "the function was called with a Target that the Installation does not import: import it, and pass the whole object from .imports", v1alpha1.ErrorConfigurationProblem)
}

// withUser returns the Target's kubeconfig with another user.
func (s *source) withUser(name string, user *clientcmdapi.AuthInfo) ([]byte, error) {
	text, err := s.kubeconfig.withUser(name, user)
	if err != nil {
		return nil, fmt.Errorf("encode a kubeconfig for the cluster of Target %s: %w", s.title, err)
	}
	return text, nil
}

// request creates a request for credentials at a subresource of an object, and
// reads the answer.
func (s *source) request(ctx context.Context, resource schema.GroupVersionResource, namespace, name, subresource string, kind schema.GroupVersionKind, expiration time.Duration, answer any) error {
	if namespace == "" {
		return errors.New("the namespace is missing")
	}
	request := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"expirationSeconds": int64(expiration.Seconds())}}}
	request.SetGroupVersionKind(kind)
	request.SetName(name)
	var made *unstructured.Unstructured
	err := s.connection.try(ctx, func(ctx context.Context) (err error) {
		made, err = s.connection.dynamic.Resource(resource).Namespace(namespace).Create(ctx, request, metav1.CreateOptions{}, subresource)
		return err
	})
	if err != nil {
		return err
	}
	raw, err := made.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		// The reason is dropped on purpose: the answer holds credentials.
		return errors.New("the answer has not the expected form")
	}
	return nil
}
