package decryptor

import (
	"context"
	"errors"
	"strings"

	"github.com/fluxcd/pkg/cache"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/resource"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
)

// Decryptor has the fields that options set.
type Decryptor struct {
	root                          string
	tokenCache                    *cache.TokenCache
	sopsAgeSecret, vaultConfigMap *types.NamespacedName
}

func New(_ client.Client, kustomization *kustomizev1.Kustomization, _ ...Option) (*Decryptor, func(), error) {
	if kustomization.Spec.Decryption != nil {
		return nil, nil, errors.New("this lean kustomize-controller decrypts nothing")
	}
	return &Decryptor{}, func() {}, nil
}

func (*Decryptor) ImportKeys(context.Context) error                               { return nil }
func (*Decryptor) SetAuthOptions(context.Context)                                 {}
func (*Decryptor) DecryptSources(string) error                                    { return nil }
func (*Decryptor) DecryptResource(*resource.Resource) (*resource.Resource, error) { return nil, nil }

// IsEncryptedSecret is true for what must not be applied.
func IsEncryptedSecret(object *unstructured.Unstructured) bool {
	_, encrypted := object.Object["sops"]
	return encrypted && object.GetAPIVersion() == "v1" && object.GetKind() == "Secret"
}

// IsDecryptionDisabled is true for what is to be applied as it is.
func IsDecryptionDisabled(annotations map[string]string) bool {
	return strings.EqualFold(annotations[kustomizev1.GroupVersion.Group+"/decrypt"], kustomizev1.DisabledValue)
}
