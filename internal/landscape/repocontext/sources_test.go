package repocontext

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/signature"
	"go.landscaper.dev/internal/model/validation"
)

const password = "hunter2hunter2"

// reader reads from an API server with some objects.
func reader(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) *Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	administrator := &credential.Store{}
	administrator.AddConsumer(map[string]string{"hostname": "own.example.org"}, credential.Properties{credential.Username: "administrator"})
	return &Reader{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build(),
		Base: component.Options{
			Registry: registry.Options{Credentials: administrator},
			Default:  descriptor.Typed(`{"type":"OCIRegistry","baseUrl":"default.example.org"}`),
		},
		Foreign: validation.SourceNamespaces{"keys": {"team-a"}},
	}
}

func landscape(t *testing.T, text string) *v1alpha1.Context {
	t.Helper()
	made := &v1alpha1.Context{}
	if err := yaml.UnmarshalStrict([]byte(text), made); err != nil {
		t.Fatal(err)
	}
	made.Namespace, made.Name = "team-a", "vendor"
	return made
}

func secret(namespace, name string, data map[string]string) *corev1.Secret {
	made := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{}}
	for key, value := range data {
		made.Data[key] = []byte(value)
	}
	return made
}

func configMap(name, content string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Data: map[string]string{ocmConfigKey: content}}
}

func docker(host, user string) map[string]string {
	return map[string]string{credential.DockerConfigKey: `{"auths":{"` + host + `":{"username":"` + user + `","password":"` + password + `"}}}`}
}

// TestRead reads a Context that has everything.
func TestRead(t *testing.T) {
	r := reader(t, interceptor.Funcs{},
		secret("team-a", "first", docker("r.example.org", "first")),
		secret("team-a", "second", docker("r.example.org", "second")),
		secret("team-a", "empty", map[string]string{"token": "x"}),
		configMap("ocm", "type: generic.config.ocm.software/v1\nconfigurations:\n"+
			"- {type: ocm.config.ocm.software, resolvers: [{repository: {type: OCIRegistry, baseUrl: more.example.org}, prefix: example.org}]}\n- {type: unknown.config}\n"),
		&v1alpha1.ComponentVersionOverwrites{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "hotfix"}, Overwrites: v1alpha1.ComponentVersionOverwriteList{{
			Source: v1alpha1.ComponentVersionOverwriteReference{Version: "1"}, Substitution: v1alpha1.ComponentVersionOverwriteReference{Version: "2"},
		}}},
	)
	got, err := r.Read(t.Context(), landscape(t, "repositoryContext: {type: ociRegistry, baseUrl: own.example.org}\nregistryPullSecrets: [{name: first}, {name: second}, {name: empty}]\nocmConfig: {name: ocm}\ncomponentVersionOverwrites: hotfix\n"))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"r.example.org": "second", "own.example.org": "administrator", "other.example.org": ""} {
		t.Run(host, func(t *testing.T) {
			if user := got.Options.Registry.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Scheme: "https", Host: host})[credential.Username]; user != want {
				t.Errorf("%s is asked as %q, want %q: the later Secret wins, the administrator's files are for all", host, user, want)
			}
		})
	}
	if r.Base.Registry.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Scheme: "https", Host: "r.example.org"}) != nil {
		t.Error("the credentials of one namespace are now those of all")
	}
	if got.Options.Tenant != "team-a" || !strings.Contains(got.Options.Default.String(), "own.example.org") || !got.Overwritten || len(got.Options.Overwrites) != 1 || len(got.Options.Config.Resolvers) != 1 {
		t.Errorf("got %+v", got)
	}
	if text := strings.Join(got.Warnings, "\n"); len(got.Warnings) != 2 || !strings.Contains(text, "Secret empty has neither the key") || !strings.Contains(text, "a part of another type") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// TestReadLittle reads Contexts that say little.
func TestReadLittle(t *testing.T) {
	for _, test := range []struct{ reason, context, repository string }{
		{"a Context without a repository has that of the deployment", "{}", "default.example.org"},
		{"the repository context of the Context goes first", "repositoryContext: {type: ociRegistry, baseUrl: own.example.org}", "own.example.org"},
		{"an empty OCM configuration says nothing", "ocmConfig: {name: blank}", "default.example.org"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := reader(t, interceptor.Funcs{}, configMap("blank", "")).Read(t.Context(), landscape(t, test.context))
			if err != nil || !strings.Contains(got.Options.Default.String(), test.repository) || got.Overwritten || len(got.Warnings) > 0 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	for _, test := range []struct {
		reason, context string
		wants           []string
	}{
		{"a Secret that does not exist", "registryPullSecrets: [{name: good}, {name: ghost}]", []string{"Context vendor", "registryPullSecrets", "Secret ghost", "create it"}},
		{"a Secret of another namespace is not looked for", "registryPullSecrets: [{name: foreign}]", []string{"Secret foreign cannot be found in this namespace"}},
		{"an invalid Docker configuration", "registryPullSecrets: [{name: broken}]", []string{"registryPullSecrets", "key .dockerconfigjson of Secret broken"}},
		{"an OCM credential configuration of another type", "registryPullSecrets: [{name: type}]", []string{"key .ocmcredentialconfig of Secret type"}},
		{"a ConfigMap that does not exist", "ocmConfig: {name: ghost}", []string{"ocmConfig", "ConfigMap ghost", "create it"}},
		{"a ConfigMap without the key", "ocmConfig: {name: keyless}", []string{"ocmConfig", "keyless", `does not contain key ".ocmconfig"`}},
		{"an OCM configuration that is no YAML", "ocmConfig: {name: garbage}", []string{`invalid ocm config in "garbage" in namespace "team-a"`}},
		{"an OCM configuration without a type", "ocmConfig: {name: typeless}", []string{"invalid ocm config", "has no type"}},
		{"overwrites that do not exist", "componentVersionOverwrites: ghost", []string{"componentVersionOverwrites", "ComponentVersionOverwrites ghost"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r := reader(t, interceptor.Funcs{},
				secret("team-a", "good", docker("r.example.org", "a")),
				secret("keys", "foreign", docker("r.example.org", "a")),
				secret("team-a", "broken", map[string]string{credential.DockerConfigKey: `{"auths": "` + password}),
				secret("team-a", "type", map[string]string{credential.OCMConfigKey: "type: other\npassword: " + password}),
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "keyless"}},
				configMap("garbage", "{"+password), configMap("typeless", "password: "+password),
			)
			_, err := r.Read(t.Context(), landscape(t, test.context))
			check(t, test.reason, err, test.wants)
			var unread *ReadError
			if errors.As(err, &unread) {
				t.Error("another attempt would end the same way")
			}
		})
	}
}

func check(t *testing.T, reason string, err error, wants []string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", reason)
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q is not in %q", reason, want, err)
		}
	}
	if strings.Contains(err.Error(), password) {
		t.Errorf("%s: the message shows a secret: %v", reason, err)
	}
}

// TestAPIServer: an object that the API server does not deliver may still exist.
func TestAPIServer(t *testing.T) {
	resource := schema.GroupResource{Resource: "things"}
	for _, test := range []struct {
		reason string
		cause  error
		want   string
	}{
		{"an error of the API server", apierrors.NewInternalError(errors.New("etcd is slow")), "etcd is slow"},
		{"too many requests", apierrors.NewTooManyRequests("later", 1), "later"},
		{"a permission that is missing names who can help", apierrors.NewForbidden(resource, "x", nil), "the administrator has to give this permission"},
		{"no answer", errors.New("connection refused"), "connection refused"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			fails := interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return test.cause
			}}
			for _, context := range []string{"registryPullSecrets: [{name: a}]", "ocmConfig: {name: a}", "componentVersionOverwrites: a"} {
				_, err := reader(t, fails).Read(t.Context(), landscape(t, context))
				var unread *ReadError
				if !errors.As(err, &unread) || !errors.Is(err, test.cause) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s, %s: %v", test.reason, context, err)
				}
			}
			s := &Sources{Context: landscape(t, "verificationSignatures: {s: {publicKeySecretReference: {name: a, key: k}}}"), reader: reader(t, fails)}
			_, err := s.Trust(t.Context(), "s")
			var unread *ReadError
			if !errors.As(err, &unread) {
				t.Error(err)
			}
		})
	}
}

func TestTrust(t *testing.T) {
	for _, test := range []struct {
		reason, signatures string
		wants              []string
	}{
		{"a key", "{s: {publicKeySecretReference: {name: key, key: k}}}", nil},
		{"a key in the namespace of the Context, which is named", "{s: {publicKeySecretReference: {name: key, namespace: team-a, key: k}}}", nil},
		{"a namespace that the administrator has permitted", "{s: {publicKeySecretReference: {name: shared, namespace: keys, key: k}}}", nil},
		{"neither key nor authority: no key is trusted", "{s: {}}", []string{"Context vendor", "verificationSignatures.s", "no key is trusted by default"}},
		{"a key without content is no permission for everybody", "{s: {publicKeySecretReference: {name: key, key: blank}}}", []string{"publicKeySecretReference of Context vendor", `the key "blank" of Secret key is empty`}},
		{"authorities without content", "{s: {publicKeySecretReference: {name: key, key: k}, caCertificateSecretReference: {name: key, key: blank}}}", []string{"caCertificateSecretReference of Context vendor", "is empty"}},
		{"another name", "{other: {publicKeySecretReference: {name: key, key: k}}}", []string{"Context vendor", `signature name "s"`}},
		{"a Secret that does not exist", "{s: {publicKeySecretReference: {name: ghost, key: k}}}", []string{"verificationSignatures.s.publicKeySecretReference of Context vendor", "Secret ghost"}},
		{"a key that does not exist", "{s: {caCertificateSecretReference: {name: key, key: ghost}}}", []string{"verificationSignatures.s.caCertificateSecretReference", `Secret key has no key "ghost"`}},
		{"a namespace that is not permitted", "{s: {caCertificateSecretReference: {name: theirs, namespace: team-b, key: k}}}", []string{"caCertificateSecretReference", "is in namespace team-b", "importNamespaces"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r := reader(t, interceptor.Funcs{},
				secret("team-a", "key", map[string]string{"k": "the key", "blank": " \n"}),
				secret("keys", "shared", map[string]string{"k": "the key"}),
				secret("team-b", "theirs", map[string]string{"k": password}),
			)
			s, err := r.Read(t.Context(), landscape(t, "verificationSignatures: "+test.signatures))
			if err != nil {
				t.Fatal(err)
			}
			trust, err := s.Trust(t.Context(), "s")
			if test.wants != nil {
				check(t, test.reason, err, test.wants)
				return
			}
			if err != nil || (len(trust.PublicKey) > 0) != strings.Contains(test.signatures, "name") {
				t.Errorf("%+v, %v", trust, err)
			}
		})
	}
}

// TestOwnKeys: where signatures are enforced the keys of the deployment count, and
// not those that a tenant writes into its Context.
func TestOwnKeys(t *testing.T) {
	const ofContext, ofDeployment = "key of the Context", "key of the deployment"
	for _, test := range []struct {
		reason, name string
		own          bool
		want         string
		wants        []string
	}{
		{"the Context knows more about its own signatures", "both", false, ofContext, nil},
		{"a name that only the deployment has", "ours", false, ofDeployment, nil},
		{"a name that only the Context has", "theirs", false, ofContext, nil},
		{"enforced: the same name does not bring the Context's key in", "both", true, ofDeployment, nil},
		{"enforced: a name of the deployment", "ours", true, ofDeployment, nil},
		{"enforced: a tenant's key is not a key", "theirs", true, "", []string{`signature name "theirs"`, "signatureVerification.keys"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r := reader(t, interceptor.Funcs{}, secret("team-a", "key", map[string]string{"k": ofContext}))
			r.OwnKeys = test.own
			r.Keys = map[string]signature.Trust{"both": {PublicKey: []byte(ofDeployment)}, "ours": {PublicKey: []byte(ofDeployment)}}
			s, err := r.Read(t.Context(), landscape(t, "verificationSignatures: {both: {publicKeySecretReference: {name: key, key: k}}, theirs: {publicKeySecretReference: {name: key, key: k}}}"))
			if err != nil {
				t.Fatal(err)
			}
			trust, err := s.Trust(t.Context(), test.name)
			if test.wants != nil {
				check(t, test.reason, err, test.wants)
				return
			}
			if err != nil || string(trust.PublicKey) != test.want {
				t.Errorf("%s, %v", trust.PublicKey, err)
			}
		})
	}
}
