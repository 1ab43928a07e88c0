package supervisor

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/lab/internal/kube"
	"go.landscaper.dev/lab/internal/pki"
	"go.landscaper.dev/lab/internal/report"
)

// UserRequest asks for an additional user of a cluster.
type UserRequest struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
	// Certificate chooses a client certificate instead of a token.
	Certificate bool `json:"certificate,omitempty"`
	// ThroughProxy addresses the fault proxy instead of the API server.
	ThroughProxy bool `json:"throughProxy,omitempty"`
	// ClusterRoles are bound to the user in the whole cluster, or in Namespace.
	ClusterRoles []string `json:"clusterRoles,omitempty"`
	Namespace    string   `json:"namespace,omitempty"`
	// Manifests are applied as they are, for roles and bindings of any kind.
	Manifests []byte `json:"manifests,omitempty"`
}

// A user name becomes part of file and object names.
var validUser = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.:@_-]{0,99}$`)

func (s *Supervisor) addUser(r *http.Request, request UserRequest) (report.User, error) {
	c, err := s.cluster(r.PathValue("cluster"))
	if err != nil {
		return report.User{}, err
	}
	if !validUser.MatchString(request.Name) {
		return report.User{}, invalid{fmt.Errorf("user name %q: use up to 100 letters, digits and . : @ _ -", request.Name)}
	}
	access, err := c.newUser(request)
	if err != nil {
		return report.User{}, err
	}
	if request.ThroughProxy {
		proxy, err := s.proxy(r.Context(), c)
		if err != nil {
			return report.User{}, err
		}
		access.Server = proxy.Server
	}
	if err := c.grant(r.Context(), request); err != nil {
		return report.User{}, fmt.Errorf("give user %s rights in cluster %s: %w", request.Name, c.Name, err)
	}
	// A directory of its own, since one user may have several kubeconfigs.
	if err := os.MkdirAll(c.path("users"), 0o700); err != nil {
		return report.User{}, fmt.Errorf("make the directory of users: %w", err)
	}
	directory, err := os.MkdirTemp(c.path("users"), "")
	if err != nil {
		return report.User{}, fmt.Errorf("make the directory of user %s: %w", request.Name, err)
	}
	user := report.User{
		Name: request.Name, Groups: request.Groups, Cluster: c.Name, Server: access.Server,
		Token: access.Token, Kubeconfig: directory + "/kubeconfig",
	}
	return user, access.Write(user.Kubeconfig)
}

func (c *cluster) newUser(request UserRequest) (kube.Access, error) {
	if request.Certificate {
		return c.CertAccess(request.Name, request.Groups)
	}
	token := pki.NewToken()
	c.users.add(token, user{Name: request.Name, Groups: request.Groups})
	return c.TokenAccess(request.Name, token), nil
}

// grant gives the user the roles that were asked for, and returns when they are in force.
func (c *cluster) grant(ctx context.Context, request UserRequest) error {
	if len(request.Manifests) > 0 {
		if err := c.objects.Apply(ctx, request.Manifests); err != nil {
			return err
		}
	}
	for _, role := range request.ClusterRoles {
		if err := c.bind(ctx, request, role); err != nil {
			return fmt.Errorf("bind ClusterRole %s: %w", role, err)
		}
	}
	if len(request.Manifests) == 0 && len(request.ClusterRoles) == 0 {
		return nil
	}
	return c.awaitForce(ctx, request.Name)
}

func (c *cluster) bind(ctx context.Context, request UserRequest, role string) error {
	meta := metav1.ObjectMeta{GenerateName: "lab-user-"}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: request.Name}}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	var err error
	if request.Namespace == "" {
		_, err = c.objects.Clientset.RbacV1().ClusterRoleBindings().Create(ctx,
			&rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: ref}, metav1.CreateOptions{})
	} else {
		_, err = c.objects.Clientset.RbacV1().RoleBindings(request.Namespace).Create(ctx,
			&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: ref}, metav1.CreateOptions{})
	}
	return err
}

// RemoveUserRequest asks for the tokens of a user to become invalid.
type RemoveUserRequest struct {
	Name string `json:"name"`
}

func (s *Supervisor) removeUser(r *http.Request, request RemoveUserRequest) (struct{}, error) {
	c, err := s.cluster(r.PathValue("cluster"))
	if err != nil {
		return struct{}{}, err
	}
	if !c.users.remove(request.Name) {
		return struct{}{}, notFound{fmt.Errorf("cluster %s has no added user %q with a token", c.Name, request.Name)}
	}
	return struct{}{}, nil
}
