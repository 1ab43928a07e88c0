package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/controller/shootflux/safetext"
)

const (
	// TokenSecret is the Secret in which the resource manager stores the extension's token for a
	// shoot.
	TokenSecret = "shoot-access-extension-shoot-flux"
	// account is the ServiceAccount of the extension in a shoot, in the namespace accountNamespace.
	account          = "extension-shoot-flux"
	accountNamespace = "kube-system"
	// role has its permissions.
	role = "gardener.cloud:extension:shoot-flux"

	rbacVersion = "rbac.authorization.k8s.io/v1"
	askedBy     = "serviceaccount.resources.gardener.cloud/"
	lookTimeout = 10 * time.Second
)

// errNotYet says that a shoot cannot be read yet.
var errNotYet = errors.New("the shoot cannot be looked into yet")

// Shoots reads from shoots, with only the permission to read the status of Flux's objects.
type Shoots struct {
	Seed client.Client
	Pool *cluster.Pool
}

// Ask requests a token from the resource manager, for later reads from the shoot.
func (s *Shoots) Ask(ctx context.Context, namespace string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: TokenSecret,
		Labels:      map[string]string{"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "shoot"},
		Annotations: map[string]string{askedBy + "name": account, askedBy + "namespace": accountNamespace},
	}, Type: corev1.SecretTypeOpaque}
	if err := s.Seed.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create Secret %s/%s: %w", namespace, TokenSecret, err)
	}
	return nil
}

// Forget removes the request for a token, and with it the token.
func (s *Shoots) Forget(ctx context.Context, namespace string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: TokenSecret}}
	if err := s.Seed.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Secret %s/%s: %w", namespace, TokenSecret, err)
	}
	return nil
}

// Rights are the objects in a shoot that permit to read the status of Flux's objects.
func Rights() []*unstructured.Unstructured {
	rule := func(group string, resources ...any) any {
		return map[string]any{"apiGroups": []any{group}, "resources": resources, "verbs": []any{"get", "list"}}
	}
	return []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": rbacVersion, "kind": "ClusterRole", "metadata": map[string]any{"name": role},
		"rules": []any{
			rule(sourceGroup, "gitrepositories", "ocirepositories"),
			rule(kustomizeGroup, "kustomizations"),
		},
	}}, {Object: map[string]any{
		"apiVersion": rbacVersion, "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": role},
		"roleRef": reference("ClusterRole"), "subjects": subjects(),
	}}}
}

// Account is the ServiceAccount of the extension in a shoot. The resource manager creates it with
// the first token and never deletes it, so it belongs to the objects that are deleted with the
// extension.
func Account() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ServiceAccount",
		"metadata":                     map[string]any{"name": account, "namespace": accountNamespace},
		"automountServiceAccountToken": false,
	}}
}

func reference(kind string) map[string]any {
	return map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
}

func subjects() []any {
	return []any{map[string]any{"kind": "ServiceAccount", "name": account, "namespace": accountNamespace}}
}

const (
	sourceGroup    = "source.toolkit.fluxcd.io"
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
)

var plurals = map[string]string{"GitRepository": "gitrepositories", "OCIRepository": "ocirepositories", "Kustomization": "kustomizations", "Secret": "secrets"}

// look returns the first object that is not ready, and why; nil if all are ready. The address of
// the shoot is in the Secret kubeconfig. Temporary errors wrap errNotYet.
//
// The owner of a shoot may let it answer slowly or with anything: hence the timeout, and answers
// are shortened before they are shown.
func (s *Shoots) look(ctx context.Context, namespace, kubeconfig string, objects ...*unstructured.Unstructured) (*Unready, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	connection, err := s.connect(ctx, namespace, kubeconfig)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		found, err := get(ctx, connection, object)
		if err != nil {
			return nil, err
		}
		if found == nil {
			return &Unready{Object: name(object), Message: "it does not exist in the shoot yet"}, nil
		}
		if unready := judge(found); unready != nil {
			return unready, nil
		}
	}
	return nil, nil
}

// get reads an object of a shoot; nil if it does not exist.
func get(ctx context.Context, connection *cluster.Connection, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind := object.GroupVersionKind()
	mapping := &meta.RESTMapping{
		Resource:         schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: plurals[kind.Kind]},
		GroupVersionKind: kind, Scope: meta.RESTScopeNamespace,
	}
	found, err := connection.Get(ctx, mapping, object.GetNamespace(), object.GetName())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		// The owner of the shoot may control this text and its length.
		return nil, fmt.Errorf("%w: read %s: %s", errNotYet, name(object), safetext.Text(err.Error()))
	}
	return found, nil
}

func (s *Shoots) connect(ctx context.Context, namespace, kubeconfig string) (*cluster.Connection, error) {
	token, err := s.read(ctx, namespace, TokenSecret, "token")
	if apierrors.IsNotFound(err) {
		if err := s.Ask(ctx, namespace); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if kubeconfig == "" {
		return nil, fmt.Errorf("%w: the Cluster does not say where the shoot is", errNotYet)
	}
	generic, err := s.read(ctx, namespace, kubeconfig, "kubeconfig")
	if err != nil {
		return nil, err
	}
	text, err := withToken(generic, string(token))
	if err != nil {
		return nil, fmt.Errorf("the Secret %s/%s: %w", namespace, kubeconfig, err)
	}
	return s.Pool.ConnectKubeconfig(text)
}

func (s *Shoots) read(ctx context.Context, namespace, name, key string) ([]byte, error) {
	secret := &corev1.Secret{}
	if err := s.Seed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil {
		return nil, fmt.Errorf("%w: read Secret %s/%s: %w", errNotYet, namespace, name, err)
	}
	if len(secret.Data[key]) == 0 {
		return nil, fmt.Errorf("%w: the Secret %s/%s has no %s yet", errNotYet, namespace, name, key)
	}
	return secret.Data[key], nil
}

// withToken takes the address of a shoot from its generic kubeconfig, which names a token file that
// does not exist here, and adds the extension's token.
func withToken(generic []byte, token string) ([]byte, error) {
	asJSON, err := yamltext.ToJSON(generic, yamltext.DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be decoded: %w", err)
	}
	read := clientcmdv1.Config{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(asJSON, &read); err != nil {
		return nil, errors.New("the kubeconfig cannot be decoded") // the reason may quote it
	}
	const user = "extension"
	made := clientcmdv1.Config{
		APIVersion: "v1", Kind: "Config", CurrentContext: user,
		AuthInfos: []clientcmdv1.NamedAuthInfo{{Name: user, AuthInfo: clientcmdv1.AuthInfo{Token: token}}},
	}
	for _, context := range read.Contexts {
		if context.Name != read.CurrentContext {
			continue
		}
		for _, cluster := range read.Clusters {
			if cluster.Name == context.Context.Cluster {
				made.Clusters = append(made.Clusters, cluster)
				made.Contexts = append(made.Contexts, clientcmdv1.NamedContext{Name: user, Context: clientcmdv1.Context{Cluster: cluster.Name, AuthInfo: user}})
			}
		}
	}
	text, err := json.Marshal(made)
	if err != nil {
		return nil, errors.New("the kubeconfig cannot be written")
	}
	return text, nil
}

// Unready is why an object is not ready.
type Unready struct {
	// Object is its kind and name.
	Object string
	// Failed says that Flux has tried and failed.
	Failed bool
	// Message is the message of Flux.
	Message string
}

// String returns a sentence for people.
func (u *Unready) String() string { return u.Object + " is not ready: " + u.Message }

func name(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// judge says why an object is not ready; nil if it is. The status counts only if it is about the
// present generation.
func judge(object *unstructured.Unstructured) *Unready {
	unready := &Unready{Object: name(object), Message: "Flux has not looked at it yet"}
	if suspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend"); suspended {
		return nil // a suspended object does not become ready
	}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		condition, _ := entry.(map[string]any)
		if condition["type"] != "Ready" {
			continue
		}
		if message, _ := condition["message"].(string); message != "" {
			unready.Message = safetext.Text(message)
		}
		// A failed attempt is about the generation in the condition alone.
		about, known, _ := unstructured.NestedInt64(condition, "observedGeneration")
		if known && about != object.GetGeneration() {
			unready.Message = "Flux has not looked at its last change yet"
			return unready
		}
		switch observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration"); {
		case condition["status"] == "False":
			unready.Failed = true
		case condition["status"] == "True" && observed == object.GetGeneration():
			return nil
		}
	}
	return unready
}
