// Package clusterfunc tests the kubeconfigs that templates get against a real API
// server.
package clusterfunc

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/template"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/template/clusterfunc"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/lab"
)

const (
	// here is the namespace of the Target, there that of the ServiceAccount.
	here, there = "shop", "team"
	account     = "reader"
)

var (
	environment *lab.Lab
	// admin is the administrator's client of the one cluster, which is resource and
	// target cluster.
	admin client.Client
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	started, err := lab.Start(ctx, lab.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := started.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	environment = started
	if err := prepare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// prepare makes a ServiceAccount that may list ConfigMaps, and the Secrets that
// Targets refer to.
func prepare(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", environment.Clusters["cluster"].Kubeconfig)
	if err != nil {
		return err
	}
	if admin, err = client.New(config, client.Options{Scheme: clientgoscheme.Scheme}); err != nil {
		return err
	}
	mighty, err := os.ReadFile(environment.Clusters["cluster"].Kubeconfig)
	if err != nil {
		return err
	}
	weak, err := environment.Clusters["cluster"].AddUser(ctx, lab.UserOptions{Name: "powerless"})
	if err != nil {
		return err
	}
	poor, err := os.ReadFile(weak.Kubeconfig)
	if err != nil {
		return err
	}
	meta := metav1.ObjectMeta{Namespace: there, Name: account}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: here}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: there}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "access"}, Data: map[string][]byte{"mighty": mighty, "weak": poor}},
		&corev1.ServiceAccount{ObjectMeta: meta},
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: there, Name: account}},
		},
	} {
		if err := admin.Create(ctx, object); err != nil {
			return err
		}
	}
	return awaitRight(ctx)
}

// awaitRight returns when the ServiceAccount may list ConfigMaps. Nothing shows when a Role is in
// force, so the API server is asked.
func awaitRight(ctx context.Context) error {
	for {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + there + ":" + account,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: there, Verb: "list", Resource: "configmaps"},
		}}
		if err := admin.Create(ctx, review); err != nil || review.Status.Allowed {
			return err
		}
	}
}

// imported is a Target with the access under a key.
func imported(key string) *v1alpha1.Target {
	return &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: here, Name: "edge", UID: types.UID(key)},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, SecretRef: &v1alpha1.LocalSecretReference{Name: "access", Key: key}},
	}
}

// target is a Target as templates have it.
func target(t *testing.T, key string) any {
	t.Helper()
	value, err := jsonvalue.FromObject(imported(key))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func functions(log func(function, target string, expires time.Time)) map[string]clusterfunc.Function {
	targets := []*v1alpha1.Target{imported("mighty"), imported("weak"), imported("ghost")}
	return clusterfunc.Functions(clusterfunc.Options{Clusters: cluster.NewKubeconfigs(cluster.NewPool(cluster.PoolOptions{Secrets: admin, Egress: egress.Policy{AllowLoopback: true}}), here, targets), Log: log})
}

// clientOf makes a client from a kubeconfig in base64.
func clientOf(t *testing.T, encoded any) (client.Client, string) {
	t.Helper()
	text, ok := encoded.(string)
	if !ok {
		t.Fatalf("the kubeconfig is a %T", encoded)
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := clientcmd.Load(content)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded.AuthInfos) != 1 || loaded.AuthInfos[account] == nil || loaded.Contexts[loaded.CurrentContext].AuthInfo != account {
		t.Errorf("the user must be called like the ServiceAccount, and be the only one: %v", loaded.AuthInfos)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return made, config.BearerToken
}

// TestServiceAccountKubeconfig does with the kubeconfig what the ServiceAccount
// may, and not more. The call is one of a template.
func TestServiceAccountKubeconfig(t *testing.T) {
	var logged []string
	all := functions(func(function, target string, expires time.Time) {
		logged = append(logged, function+" "+target)
		if time.Until(expires) < 0 {
			t.Errorf("%s: expires %s", function, expires)
		}
	})
	text := `{{ getServiceAccountKubeconfig "reader" "team" 3600 .imports.cluster }}`
	parsed, err := template.New("execution").Funcs(template.FuncMap{"getServiceAccountKubeconfig": func(args ...any) (any, error) {
		return all["getServiceAccountKubeconfig"](t.Context(), args)
	}}).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, map[string]any{"imports": map[string]any{"cluster": target(t, "mighty")}}); err != nil {
		t.Fatal(err)
	}
	made, _ := clientOf(t, out.String())
	if err := made.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(there)); err != nil {
		t.Errorf("what the ServiceAccount may: %v", err)
	}
	if err := made.List(t.Context(), &corev1.SecretList{}, client.InNamespace(there)); !apierrors.IsForbidden(err) {
		t.Errorf("what the ServiceAccount may not: %v", err)
	}
	if len(logged) != 1 || logged[0] != "getServiceAccountKubeconfig shop/edge" {
		t.Errorf("log %v", logged)
	}
}

// TestExpiration compares what the function says with what is in the token.
func TestExpiration(t *testing.T) {
	for _, seconds := range []int64{600, 7200} {
		before := time.Now()
		got, err := functions(nil)["getServiceAccountKubeconfigWithExpirationTimestamp"](t.Context(), []any{account, there, seconds, target(t, "mighty")})
		if err != nil {
			t.Fatal(err)
		}
		result, ok := got.(map[string]any)
		if !ok {
			t.Fatalf("got %T", got)
		}
		_, token := clientOf(t, result["kubeconfig"])
		claims, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		var claimed struct {
			Expires int64 `json:"exp"`
		}
		if err := json.Unmarshal(claims, &claimed); err != nil {
			t.Fatal(err)
		}
		expires, ok := result["expirationTimestamp"].(int64)
		if !ok || expires != claimed.Expires {
			t.Errorf("%d s: the function says %v, the token %d", seconds, result["expirationTimestamp"], claimed.Expires)
		}
		if readable := time.Unix(expires, 0).UTC().Format(time.RFC3339); result["expirationTimestampReadable"] != readable {
			t.Errorf("%d s: %v, want %s", seconds, result["expirationTimestampReadable"], readable)
		}
		if lifetime := expires - before.Unix(); lifetime < seconds || lifetime > seconds+int64(time.Since(before).Seconds())+1 {
			t.Errorf("asked for %d s, got %d", seconds, lifetime)
		}
	}
}

// TestErrors: an error has the message of the API server, and no credential.
func TestErrors(t *testing.T) {
	tests := []struct {
		reason, name string
		args         []any
		want         string
		matches      func(error) bool
	}{
		{"no such account", "getServiceAccountKubeconfig", []any{"ghost", there, 600, target(t, "mighty")}, "NotFound (404) to POST of serviceaccounts/token: it does not exist", apierrors.IsNotFound},
		{"too short a time", "getServiceAccountKubeconfig", []any{account, there, 60, target(t, "mighty")}, "spec.expirationSeconds: the value is invalid (it must be at least 10 minutes)", apierrors.IsInvalid},
		{"a Target whose user may not", "getServiceAccountKubeconfig", []any{account, there, 600, target(t, "weak")}, "Forbidden (403) to POST of serviceaccounts/token: the credentials lack this permission", apierrors.IsForbidden},
		{"a cluster without shoots", "getShootAdminKubeconfig", []any{"blue", "garden-shop", 600, target(t, "mighty")}, "the cluster does not know this kind", apierrors.IsNotFound},
		{"no such key of the Secret", "getOidcKubeconfig", []any{"https://login.example.org", "landscape", target(t, "ghost")}, "it has no key ghost: add it", job.IsWaiting},
	}
	for _, test := range tests {
		_, err := functions(nil)[test.name](t.Context(), test.args)
		if err == nil || !strings.Contains(err.Error(), test.want) || !test.matches(err) {
			t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
		}
		if strings.Contains(fmt.Sprint(err), environment.Clusters["cluster"].Token) {
			t.Errorf("%s: the message shows a token: %v", test.reason, err)
		}
	}
}

// TestCancelled makes no request any more.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := functions(nil)["getServiceAccountKubeconfig"](ctx, []any{account, there, 600, target(t, "mighty")}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
