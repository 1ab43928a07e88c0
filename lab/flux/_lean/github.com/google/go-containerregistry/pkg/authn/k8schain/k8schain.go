package k8schain

import (
	"context"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/authn/kubernetes"
	corev1 "k8s.io/api/core/v1"
)

// NewFromPullSecrets takes credentials from Secrets and from files, not from clouds.
func NewFromPullSecrets(ctx context.Context, secrets []corev1.Secret) (authn.Keychain, error) {
	ofSecrets, err := kubernetes.NewFromPullSecrets(ctx, secrets)
	if err != nil {
		return nil, err
	}
	return authn.NewMultiKeychain(ofSecrets, authn.DefaultKeychain), nil
}
