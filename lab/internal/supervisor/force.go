package supervisor

import (
	"context"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/lab/internal/pki"
)

// pause is the time between two questions whether a right is in force.
const pause = 5 * time.Millisecond

// awaitForce returns when the roles and bindings are in force that were stored before. The API
// server learns of each kind by a watch, which has an order, but does not report how far it is: so
// further ones of all kinds are stored, and checked until they are in force.
func (c *cluster) awaitForce(ctx context.Context, user string) (err error) {
	meta := metav1.ObjectMeta{GenerateName: "lab-force-"}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	rules := func(resource string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"lab"}, Resources: []string{resource}}}
	}
	// Roles of another call may still be in force.
	inCluster, inNamespace := "cluster-"+pki.NewToken(), "namespace-"+pki.NewToken()
	rbac := c.objects.Clientset.RbacV1()
	clusterRole, err := rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules(inCluster)}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	defer func() { c.forget(ctx, rbac.ClusterRoles().Delete, clusterRole.Name) }()
	clusterBinding, err := rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	defer func() { c.forget(ctx, rbac.ClusterRoleBindings().Delete, clusterBinding.Name) }()
	roles, bindings := rbac.Roles(metav1.NamespaceDefault), rbac.RoleBindings(metav1.NamespaceDefault)
	role, err := roles.Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules(inNamespace)}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	defer func() { c.forget(ctx, roles.Delete, role.Name) }()
	binding, err := bindings.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	defer func() { c.forget(ctx, bindings.Delete, binding.Name) }()
	for _, right := range []string{inCluster, inNamespace} {
		if err := c.awaitRight(ctx, user, right); err != nil {
			return err
		}
	}
	return nil
}

// forget deletes what has served. Leftovers have no effect, and are deleted with the lab.
func (c *cluster) forget(ctx context.Context, remove func(context.Context, string, metav1.DeleteOptions) error, name string) {
	_ = remove(context.WithoutCancel(ctx), name, metav1.DeleteOptions{})
}

// awaitRight asks the API server until a user has a right.
func (c *cluster) awaitRight(ctx context.Context, user, resource string) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: metav1.NamespaceDefault, Verb: "get", Group: "lab", Resource: resource},
		}}
		reviewed, err := c.objects.Clientset.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask whether rights are in force: %w", err)
		}
		if reviewed.Status.Allowed {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the rights are not in force: %w", ctx.Err())
		}
	}
}
