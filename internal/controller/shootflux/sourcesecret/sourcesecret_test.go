package sourcesecret

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/giturl"
	"go.landscaper.dev/internal/controller/shootflux/sshkey"
)

const (
	aKey     = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
	ourHost  = "git.example.org " + aKey + "\n"
	repoURL  = "ssh://git@git.example.org/app.git"
	httpsURL = "https://git.example.org/app.git"
)

var (
	secrets   = schema.GroupResource{Resource: "secrets"}
	missing   = apierrors.NewNotFound(secrets, "x")
	forbidden = apierrors.NewForbidden(secrets, "x", nil)
	errBroken = errors.New("the garden does not answer")
)

// answer is a Secret, or the error of its read.
type answer struct {
	secret *corev1.Secret
	err    error
}

// places answers; a forbidden request fails the test.
type places struct {
	t                    *testing.T
	copied, garden, seed *answer
}

func (p places) give(a *answer, what string) (*corev1.Secret, error) {
	if a == nil {
		p.t.Errorf("the Secret of the %s was read", what)
		return nil, missing
	}
	return a.secret, a.err
}

func (p places) Copied(_ context.Context, name string) (*corev1.Secret, error) {
	if name != "fleet-ssh" {
		p.t.Errorf("Secret %s was read", name)
	}
	return p.give(p.copied, "shoot")
}
func (p places) OfProject(context.Context) (*corev1.Secret, error) { return p.give(p.garden, "garden") }
func (p places) OfSeed(context.Context) (*corev1.Secret, error)    { return p.give(p.seed, "seed") }

func ours(hosts string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "flux-source", Labels: map[string]string{Label: Manager, "team": "a"}},
		Data:       map[string][]byte{sshkey.DataIdentity: []byte("old"), sshkey.DataIdentityPub: []byte("old.pub"), sshkey.DataKnownHosts: []byte(hosts)},
	}
}

func byHand() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "flux-source"}, Data: map[string][]byte{"username": []byte("me"), "password": []byte("canary")}}
}

func TestDecide(t *testing.T) {
	generate := &config.Source{URL: repoURL, Private: true, GenerateSSHKey: true}
	https := &config.Source{URL: httpsURL, Private: true}
	pinned := &config.Source{URL: repoURL, Private: true, GenerateSSHKey: true, KnownHosts: ourHost}
	named := &config.Source{URL: repoURL, Private: true, SecretResource: "deploy", SecretObject: "fleet-ssh"}
	usual := []config.Resource{{Name: "flux-source", APIVersion: "v1", Kind: "Secret", Object: "fleet-ssh"}}
	none, shut, silent, at := &answer{err: missing}, &answer{err: config.ErrNoGarden}, &answer{err: errBroken}, func(s *corev1.Secret) *answer { return &answer{secret: s} }
	for _, test := range []struct {
		reason  string
		request Request
		places  places
		want    Decision
		fail    string
	}{
		{"the Shoot names its Secret", Request{Source: named}, places{copied: at(byHand())}, Decision{Place: Shoot, Secret: byHand()}, ""},
		{"the Secret of the Shoot is not there yet", Request{Source: named}, places{copied: none}, Decision{}, "the Secret fleet-ssh, which spec.resources of the Shoot refers to, is not on the seed"},
		{"the seed does not answer", Request{Source: named}, places{copied: silent}, Decision{}, "read Secret fleet-ssh of the Shoot's spec.resources"},
		{"the Shoot has a resource of the usual name", Request{Source: generate, Resources: usual}, places{copied: at(byHand())}, Decision{Place: Shoot, Secret: byHand()}, ""},
		{"a resource of another kind does not count", Request{Source: generate, Resources: []config.Resource{{Name: "flux-source", Kind: "ConfigMap"}}}, places{garden: at(byHand())}, Decision{Place: Garden, Secret: byHand()}, ""},
		{"the project has one", Request{Source: generate}, places{garden: at(ours(ourHost))}, Decision{Place: Garden, Secret: ours(ourHost)}, ""},
		{"the project has one by hand, whatever is in it", Request{Source: https}, places{garden: at(byHand())}, Decision{Place: Garden, Secret: byHand()}, ""},
		{"the shoot has one from before", Request{Source: generate}, places{garden: none, seed: at(ours(ourHost))}, Decision{Place: Seed, Secret: ours(ourHost)}, ""},
		{"no Secret anywhere: the project gets it", Request{Source: generate}, places{garden: none, seed: none}, Decision{Place: Garden, Otherwise: Seed, Write: true, NewKey: true}, ""},
		{"without a garden, the shoot gets it", Request{Source: generate}, places{garden: shut, seed: none}, Decision{Place: Seed, Write: true, NewKey: true}, ""},
		{"the garden is not ours to read", Request{Source: generate}, places{garden: &answer{err: forbidden}, seed: none}, Decision{Place: Seed, Write: true, NewKey: true}, ""},
		{"a garden that was ours must not close", Request{Source: generate, Before: Garden}, places{garden: &answer{err: forbidden}}, Decision{}, "read Secret flux-source of the project"},
		{"nor must access to it be taken away", Request{Source: generate, Before: Garden}, places{garden: shut}, Decision{}, "no access to the garden"},
		{"the project's own was deleted for a new one", Request{Source: generate, Before: Garden}, places{garden: none, seed: none}, Decision{Place: Garden, Otherwise: Seed, Write: true, NewKey: true}, ""},
		{"a garden that does not answer is no garden without a Secret", Request{Source: generate}, places{garden: silent}, Decision{}, "does not answer"},
		{"a seed that does not answer", Request{Source: generate}, places{garden: none, seed: silent}, Decision{}, "read Secret shoot-flux-source"},
		{"nothing can be generated for https", Request{Source: https}, places{garden: none, seed: none}, Decision{}, "username and password"},

		{"another key for the project", Request{Source: generate, Rotate: true}, places{garden: at(ours(ourHost))}, Decision{Place: Garden, Secret: ours(ourHost), Write: true, NewKey: true}, ""},
		{"another key for the shoot", Request{Source: generate, Rotate: true}, places{garden: none, seed: at(ours(ourHost))}, Decision{Place: Seed, Secret: ours(ourHost), Write: true, NewKey: true}, ""},
		{"what people made is not rotated", Request{Source: generate, Rotate: true}, places{garden: at(byHand())}, Decision{Place: Garden, Secret: byHand(), Unrotated: notOurs}, ""},
		{"nor what the Shoot refers to", Request{Source: named, Rotate: true}, places{copied: at(ours(ourHost))}, Decision{Place: Shoot, Secret: ours(ourHost), Unrotated: notOurs}, ""},

		{"the repository has moved: its host keys are missing", Request{Source: generate}, places{garden: at(ours("other.example.org " + aKey))}, Decision{Place: Garden, Secret: ours("other.example.org " + aKey), Write: true}, ""},
		{"host keys that were written down are not stored", Request{Source: pinned}, places{garden: at(ours("other.example.org " + aKey))}, Decision{Place: Garden, Secret: ours("other.example.org " + aKey)}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			test.places.t = t
			got, err := Decide(t.Context(), test.request, test.places)
			if test.fail != "" {
				if err == nil || !strings.Contains(err.Error(), test.fail) || strings.Contains(err.Error(), "canary") {
					t.Fatalf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("-want +got: %s", diff)
			}
		})
	}
}

// answers is a host that has the same key on all ports.
func answers(_ context.Context, repository *giturl.URL) (string, error) {
	return repository.Host + " " + aKey + "\n", nil
}

func TestMake(t *testing.T) {
	source := &config.Source{URL: repoURL, Private: true, GenerateSSHKey: true}
	first, err := (&Decision{Place: Garden, Write: true, NewKey: true}).Make(t.Context(), source, "flux-lab", answers)
	if err != nil {
		t.Fatal(err)
	}
	if !Generated(first) || string(first.Data[sshkey.DataKnownHosts]) != ourHost || !strings.HasSuffix(sshkey.PublicKey(first.Data), " flux-lab") || len(first.Data) != 3 || first.Type != corev1.SecretTypeOpaque {
		t.Errorf("got %v with %d entries", first.Labels, len(first.Data))
	}
	if lacks := Lacks(first, source); lacks != "" {
		t.Errorf("it lacks something: %s", lacks)
	}

	before := ours("other.example.org " + aKey + "\n")
	before.Annotations = map[string]string{"a": "b"}
	rotated, err := (&Decision{Secret: before, Write: true, NewKey: true}).Make(t.Context(), source, "flux-lab", answers)
	if err != nil {
		t.Fatal(err)
	}
	if string(rotated.Data[sshkey.DataOldIdentity]) != "old" || string(rotated.Data[sshkey.DataOldIdentityPub]) != "old.pub" || string(rotated.Data[sshkey.DataIdentity]) == "old" {
		t.Error("the key before is not kept")
	}
	if rotated.Labels["team"] != "a" || rotated.Annotations["a"] != "b" || rotated.Name != "flux-source" {
		t.Error("metadata of others are lost")
	}
	if diff := cmp.Diff("other.example.org "+aKey+"\n"+ourHost, string(rotated.Data[sshkey.DataKnownHosts])); diff != "" {
		t.Errorf("the project has shoots with repositories elsewhere: -want +got: %s", diff)
	}

	moved, err := (&Decision{Secret: before, Write: true}).Make(t.Context(), source, "flux-lab", answers)
	if err != nil {
		t.Fatal(err)
	}
	if string(moved.Data[sshkey.DataIdentity]) != "old" || !strings.Contains(string(moved.Data[sshkey.DataKnownHosts]), ourHost) || string(before.Data[sshkey.DataKnownHosts]) == string(moved.Data[sshkey.DataKnownHosts]) {
		t.Error("only the host keys should be others")
	}
	if _, err := (&Decision{Write: true, NewKey: true}).Make(t.Context(), source, "flux-lab", nil); !errors.Is(err, sshkey.ErrNoScan) {
		t.Errorf("no host may be asked: %v", err)
	}
}

func TestForShoot(t *testing.T) {
	secret := ours("other.example.org " + aKey)
	got := ForShoot(secret, &config.Source{URL: repoURL, KnownHosts: "git.example.org " + aKey})
	if string(got.Data[sshkey.DataKnownHosts]) != ourHost || string(secret.Data[sshkey.DataKnownHosts]) == ourHost {
		t.Errorf("got %s", got.Data[sshkey.DataKnownHosts])
	}
	if got := ForShoot(secret, &config.Source{URL: repoURL}); !cmp.Equal(got, secret) {
		t.Error("nothing was written down, and something has changed")
	}
	if got := ForShoot(&corev1.Secret{}, &config.Source{KnownHosts: "x"}); len(got.Data) != 1 {
		t.Error("an empty Secret has no host keys")
	}
}

func TestLacks(t *testing.T) {
	data := func(keys ...string) *corev1.Secret {
		secret := &corev1.Secret{Data: map[string][]byte{}}
		for _, key := range keys {
			secret.Data[key] = []byte("canary")
		}
		return secret
	}
	ssh := ours(ourHost)
	otherHost := ours("other.example.org " + aKey)
	docker := &corev1.Secret{Type: corev1.SecretTypeDockerConfigJson}
	for _, test := range []struct {
		reason, url string
		secret      *corev1.Secret
		want        string
	}{
		{"a key pair", repoURL, ssh, ""},
		{"no private key", repoURL, data("known_hosts"), "identity"},
		{"no host keys", repoURL, data("identity"), "known_hosts"},
		{"host keys of others", repoURL, otherHost, "git.example.org"},
		{"a password", httpsURL, data("username", "password"), ""},
		{"a token", httpsURL, data("bearerToken"), ""},
		{"a certificate", httpsURL, data("tls.crt", "tls.key"), ""},
		{"an app of GitHub", httpsURL, data("githubAppID"), ""},
		{"a key pair where none is asked for", httpsURL, ssh, "username and password"},
		{"a user without a password", httpsURL, data("username"), "password"},
		{"credentials of a registry", "oci://registry.example.org/app", docker, ""},
		{"other credentials", "oci://registry.example.org/app", data("username", "password"), "dockerconfigjson"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := Lacks(test.secret, &config.Source{URL: test.url})
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) || strings.Contains(got, "canary") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestNoCredentials tells what a person has to do from what may be over soon.
func TestNoCredentials(t *testing.T) {
	named := &config.Source{URL: repoURL, Private: true, SecretResource: "deploy", SecretObject: "fleet-ssh"}
	for _, test := range []struct {
		reason string
		err    error
		want   bool
	}{
		{"a Secret that does not exist", missing, true},
		{"a garden that does not answer", errBroken, false},
		{"a garden that forbids the read", forbidden, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := Decide(t.Context(), Request{Source: named}, places{t: t, copied: &answer{err: test.err}})
			if got := errors.Is(err, ErrNoCredentials); got != test.want {
				t.Errorf("%s: %v is %v", test.reason, err, got)
			}
		})
	}
}
