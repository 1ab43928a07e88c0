package garden

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// administrators is the group of project members who are granted credentials.
const administrators = "gardener.cloud:project:admins"

// NewShoot returns a shoot that is complete, with the cluster behind it. It is stored by
// AddShoot.
func (g *Garden) NewShoot(namespace, name string, behind *lab.Cluster) *unstructured.Unstructured {
	shoot := newShoot(client.ObjectKey{Namespace: namespace, Name: name})
	shoot.Object["spec"] = map[string]any{"purpose": "testing", "provider": map[string]any{"type": "lab"}}
	shoot.Object["status"] = map[string]any{
		"technicalID":   "shoot--" + namespace + "--" + name,
		"lastOperation": map[string]any{"type": "Create", "state": "Succeeded", "progress": int64(100)},
		"advertisedAddresses": []any{
			map[string]any{"name": "service-account-issuer", "url": "https://issuer.example.test/" + name},
			map[string]any{"name": "external", "url": behind.Server},
		},
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.behind[client.ObjectKeyFromObject(shoot)] = behind
	return shoot
}

// AddShoot stores a shoot through the garden's own API, and lets those work in the
// cluster behind it who are granted credentials.
func (g *Garden) AddShoot(ctx context.Context, shoot *unstructured.Unstructured) error {
	g.mutex.Lock()
	behind := g.behind[client.ObjectKeyFromObject(shoot)]
	g.mutex.Unlock()
	if behind != nil {
		if err := admit(ctx, behind); err != nil {
			return err
		}
	}
	if err := g.admin.Create(ctx, shoot); err != nil {
		return fmt.Errorf("create shoot %s: %w", shoot.GetName(), err)
	}
	return nil
}

// admit gives the group of administrators its rights in a cluster.
func admit(ctx context.Context, behind *lab.Cluster) error {
	admin, err := landscape.Connect(behind.Kubeconfig)
	if err != nil {
		return err
	}
	err = admin.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:project:admins"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: administrators}},
	})
	return client.IgnoreAlreadyExists(err)
}

// Delete deletes a shoot.
func (g *Garden) Delete(ctx context.Context, shoot *unstructured.Unstructured) error {
	return g.admin.Delete(ctx, shoot)
}

func newShoot(key client.ObjectKey) *unstructured.Unstructured {
	shoot := &unstructured.Unstructured{Object: map[string]any{}}
	shoot.SetAPIVersion(servedGroup + "/" + version)
	shoot.SetKind("Shoot")
	shoot.SetNamespace(key.Namespace)
	shoot.SetName(key.Name)
	return shoot
}

// address is where the API server of a shoot is.
type address struct{ name, url string }

// apiServers are the names of addresses for which credentials are granted.
var apiServers = []string{"external", "internal", "unmanaged", "wildcard-tls-seed-bound"}

// addressesOf are those of API servers.
func addressesOf(shoot *unstructured.Unstructured) []address {
	listed, _, _ := unstructured.NestedSlice(shoot.Object, "status", "advertisedAddresses") // a missing list is empty
	var found []address
	for _, entry := range listed {
		fields, _ := entry.(map[string]any)
		name, _ := fields["name"].(string)
		url, _ := fields["url"].(string)
		if slices.Contains(apiServers, name) && url != "" {
			found = append(found, address{name, url})
		}
	}
	return found
}

// Forget takes the cluster behind a shoot away, as if it was not made yet: no
// credentials are granted then.
func (g *Garden) Forget(shoot *unstructured.Unstructured) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	delete(g.behind, client.ObjectKeyFromObject(shoot))
}
