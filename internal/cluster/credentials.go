package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	serviceAccounts = corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	shoots          = schema.GroupVersionResource{Group: "core.gardener.cloud", Version: "v1beta1", Resource: "shoots"}
	adminRequest    = schema.GroupVersionKind{Group: "authentication.gardener.cloud", Version: "v1alpha1", Kind: "AdminKubeconfigRequest"}
	tokenRequest    = authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")
)

// credentialRequest is the body of a request for credentials. It has only the necessary fields, so
// that the body is the same with each version of a library.
type credentialRequest struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Metadata   *credentialSubject `json:"metadata,omitempty"`
	Spec       credentialSpec     `json:"spec"`
}

type credentialSubject struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

type credentialSpec struct {
	ExpirationSeconds int64 `json:"expirationSeconds"`
}

// ShootAdminKubeconfig requests an administrator's kubeconfig for a shoot of a garden. It also
// returns when the credentials actually expire.
func (c *Connection) ShootAdminKubeconfig(ctx context.Context, namespace, shoot string, expiration time.Duration) ([]byte, time.Time, error) {
	var answer struct {
		Status struct {
			Kubeconfig          []byte      `json:"kubeconfig"`
			ExpirationTimestamp metav1.Time `json:"expirationTimestamp"`
		} `json:"status"`
	}
	request := newCredentialRequest(adminRequest, expiration)
	request.Metadata = &credentialSubject{Name: shoot, Namespace: namespace}
	err := c.credentials(ctx, shoots, namespace, shoot, "adminkubeconfig", request, &answer)
	if err == nil && len(answer.Status.Kubeconfig) == 0 {
		err = errors.New("the answer has no kubeconfig")
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	return answer.Status.Kubeconfig, answer.Status.ExpirationTimestamp.Time, nil
}

// ServiceAccountToken requests a token of a ServiceAccount. It also returns when the token actually
// expires.
func (c *Connection) ServiceAccountToken(ctx context.Context, namespace, name string, expiration time.Duration) (string, time.Time, error) {
	var answer authenticationv1.TokenRequest
	err := c.credentials(ctx, serviceAccounts, namespace, name, "token", newCredentialRequest(tokenRequest, expiration), &answer)
	if err == nil && answer.Status.Token == "" {
		err = errors.New("the answer has no token")
	}
	if err != nil {
		return "", time.Time{}, err
	}
	return answer.Status.Token, answer.Status.ExpirationTimestamp.Time, nil
}

// Accepts reports whether a cluster accepts the credentials of the connection, as those of a
// ServiceAccount: it may forbid the request, but it must know the user.
func (c *Connection) Accepts(ctx context.Context, namespace, account string) error {
	err := c.try(ctx, func(ctx context.Context) error {
		_, err := c.dynamic.Resource(serviceAccounts).Namespace(namespace).Get(ctx, account, metav1.GetOptions{})
		return err
	})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Shoot reads a shoot of a garden. Only an answer about the shoot itself is NotFound: an answer of
// an API server without shoots, or of a proxy in front of a garden that is down, does not mean that
// the shoot is deleted.
func (c *Connection) Shoot(ctx context.Context, namespace, name string) (shoot *unstructured.Unstructured, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		shoot, err = c.dynamic.Resource(shoots).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) && apierrors.IsUnexpectedServerError(err) {
		return nil, errors.New(err.Error() + ": check that the source serves shoots")
	}
	return shoot, err
}

func newCredentialRequest(kind schema.GroupVersionKind, expiration time.Duration) *credentialRequest {
	version, name := kind.ToAPIVersionAndKind()
	return &credentialRequest{APIVersion: version, Kind: name, Spec: credentialSpec{ExpirationSeconds: int64(expiration.Seconds())}}
}

// credentials creates a request for credentials at a subresource of an object, and
// reads the answer.
func (c *Connection) credentials(ctx context.Context, resource schema.GroupVersionResource, namespace, name, subresource string, request *credentialRequest, answer any) error {
	if namespace == "" {
		return errors.New("the namespace is missing")
	}
	for _, segment := range []string{namespace, name} {
		// Without this, a name could lead to another object.
		if problems := content.IsPathSegmentName(segment); len(problems) > 0 {
			return fmt.Errorf("the name %s", strings.Join(problems, ", "))
		}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	var raw []byte
	err = c.try(ctx, func(ctx context.Context) error {
		path := resourcePath(resource, namespace, name) + "/" + subresource
		raw, err = c.rest.Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Raw()
		return withStatus(err, raw)
	})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		// The reason is dropped on purpose: the answer holds credentials.
		return errors.New("the answer has not the expected form")
	}
	return nil
}
