package chart

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"helm.sh/helm/v4/pkg/provenance"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster/egress"
)

// signer is a user with a key.
func signer(t *testing.T, config *packet.Config) *openpgp.Entity {
	t.Helper()
	made, err := openpgp.NewEntity("signer", "", "signer@example.org", config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// signed is the provenance file of an archive, as Helm writes it.
func signed(t *testing.T, by *openpgp.Entity, archive []byte) []byte {
	t.Helper()
	text, err := (&provenance.Signatory{Entity: by}).ClearSign(archive, "web-1.0.0.tgz", []byte("name: web\nversion: 1.0.0\n"))
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}

// keys are public keys as gpg exports them.
func keys(t *testing.T, armored bool, of ...*openpgp.Entity) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, entity := range of {
		if err := entity.Serialize(&out); err != nil {
			t.Fatal(err)
		}
	}
	if !armored {
		return out.Bytes()
	}
	var text bytes.Buffer
	writer, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(out.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// asking is a Context that asks for signatures, with a Secret.
func asking(t *testing.T, s *shop, setting string, content []byte) []client.Object {
	t.Helper()
	text := strings.Replace(landscape, "configurations:\n", "configurations:\n  helmChartKeyring: "+setting+"\n", 1)
	return append(objects(t, s, text, "team-a"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "keys"}, Data: map[string][]byte{"keyring": content}})
}

const fromKeys = "{secretRef: {name: keys}}"

// TestSignedCharts takes signed charts from everywhere, and refuses all others.
func TestSignedCharts(t *testing.T) {
	good, other := signer(t, nil), signer(t, nil)
	s, archive, pinned := stocked(t)
	public := newShop(t)
	public.open = true
	chart := simple(t, "web")
	proof := signed(t, good, archive)
	s.artifact("signed/web:1.0.0", configType, layerType, archive, proof)
	s.artifact("signed/web:1.1.0", configType, layerType, archive, proof)
	s.artifact("signed/web:latest", configType, layerType, archive, proof)
	s.artifact("signed/shop:1.0.0", configType, layerType, archive, proof)
	renamed := s.artifact("signed/by-digest:9", configType, layerType, archive, proof)
	s.artifact("foreign/web:1.0.0", configType, layerType, archive, signed(t, other, archive))
	s.artifact("swapped/web:1.0.0", configType, layerType, chart, proof)
	s.artifact("broken/web:1.0.0", configType, layerType, archive, bytes.Replace(proof, []byte("name: web"), []byte("name: wep"), 1))
	s.artifact("none/web:1.0.0", configType, layerType, archive, []byte("sha256: yes"))
	s.page("/charts/repo/index.yaml", index("{version: 1.0.0, urls: [web-1.0.0.tgz]}", "{version: 2.0.0, urls: [web-1.0.0.tgz]}", "{version: 3.0.0, urls: [bare.tgz]}", "{version: 4.0.0, urls: ['oci://"+s.host()+"/signed/web:latest']}"))
	for _, at := range []string{"/charts/web-1.0.0.tgz", "/charts/repo/web-1.0.0.tgz"} {
		s.page(at, archive)
		s.page(at+".prov", proof)
	}
	s.page("/charts/repo/bare.tgz", archive)
	public.page("/web.tgz", archive)
	public.page("/web.tgz.prov", proof)
	public.page("/bare.tgz", archive)
	public.page("/away.tgz", archive)
	public.handle("/away.tgz.prov", status(http.StatusBadGateway))
	component := "component: {name: example.org/shop, version: 1.0.0}\nresource: "
	at, unsignedChart := s.URL+"/", "asks for signed charts, and there is no provenance file"
	expired := signer(t, &packet.Config{KeyLifetimeSecs: 1, Time: func() time.Time { return time.Now().Add(-time.Hour) }})
	s.artifact("expired/web:1.0.0", configType, layerType, archive, signed(t, expired, archive))
	for _, form := range []struct {
		armored bool
		of      []*openpgp.Entity
	}{{true, []*openpgp.Entity{good}}, {false, []*openpgp.Entity{expired, good}}} {
		w := newWorld(t, egress.Policy{AllowLoopback: true}, interceptor.Funcs{}, componentIn(s, archive), asking(t, s, fromKeys, keys(t, form.armored, form.of...))...)
		for _, test := range []struct {
			reason string
			source *helmv1alpha1.Chart
			want   string
			then   deployer.Outcome
		}{
			{"a registry", ref(at + "signed/web:1.0.0"), "", ""},
			{"a tag that is not a version", ref(at + "signed/web:latest"), "", ""},
			{"a digest says what is wanted", ref(at + "signed/by-digest@" + renamed.String()), "", ""},
			{"a chart repository", inRepository(at+"charts/repo", "web", "1.0.0"), "", ""},
			{"a range of versions of a chart repository", inRepository(at+"charts/repo", "web", "^1.0.0"), "", ""},
			{"an address", remote(public.URL + "/web.tgz?sig=x"), "", ""},
			{"a resource in a chart repository", byKey(component + "{name: repository}"), "", ""},
			{"what is in the item came with the item", raw(archive), "", ""},
			{"not signed, in a registry", ref(at + "oci/web:1.0.0"), unsignedChart, deployer.OutcomeFinal},
			{"not signed, pinned", ref(at + "oci/web@" + pinned.String()), unsignedChart, deployer.OutcomeFinal},
			{"not signed, in a chart repository", inRepository(at+"charts/repo", "web", "3.0.0"), unsignedChart, deployer.OutcomeFinal},
			{"not signed, at an address", remote(public.URL + "/bare.tgz"), unsignedChart, deployer.OutcomeFinal},
			{"not signed, in a component", byKey(component + "{name: blob}"), unsignedChart, deployer.OutcomeFinal},
			{"not signed, a resource in a registry", byKey(component + "{name: artifact}"), unsignedChart, deployer.OutcomeFinal},
			{"signed by another user", ref(at + "foreign/web:1.0.0"), "its signature does not count", deployer.OutcomeFinal},
			{"signed with an expired key", ref(at + "expired/web:1.0.0"), "its signature does not count", deployer.OutcomeFinal},
			{"a signature for another archive", ref(at + "swapped/web:1.0.0"), "its provenance file is that of another archive", deployer.OutcomeFinal},
			{"the signed content was changed", ref(at + "broken/web:1.0.0"), "its signature does not count", deployer.OutcomeFinal},
			{"no signature in the file", ref(at + "none/web:1.0.0"), "its provenance file has no signature", deployer.OutcomeFinal},
			{"an old chart under a new tag", ref(at + "signed/web:1.1.0"), "it is version 1.0.0, and 1.1.0 was asked for", deployer.OutcomeFinal},
			{"an old chart under a new version", inRepository(at+"charts/repo", "web", "2.0.0"), "it is version 1.0.0, and 2.0.0 was asked for", deployer.OutcomeFinal},
			{"a chart of the same signer under another name", ref(at + "signed/shop:1.0.0"), "it is chart web, and shop was asked for", deployer.OutcomeFinal},
			{"the host of the signature does not answer", remote(public.URL + "/away.tgz"), "read its provenance file", deployer.OutcomeTransient},
		} {
			got, err := w.Load(t.Context(), item("team-a", "vendor"), test.source)
			if test.want == "" && (err != nil || got.Chart.Name() != "web") {
				t.Errorf("%s: %v", test.reason, err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || deployer.OutcomeOf(err) != test.then) {
				t.Errorf("%s: got %v (%s), want %q", test.reason, err, deployer.OutcomeOf(err), test.want)
			}
		}
	}
	if len(public.leaks) > 0 {
		t.Errorf("credentials went to %s", public.leaks)
	}
}

// TestKeyrings refuses a Context whose keyring cannot be used: charts must not be taken
// without a check then.
func TestKeyrings(t *testing.T) {
	s, archive, _ := stocked(t)
	s.page("/web.tgz", archive)
	for _, test := range []struct {
		reason, setting string
		content         []byte
		want            string
	}{
		{"no Secret is named", "{}", nil, "configurations.helmChartKeyring of Context vendor: secretRef.name must be set"},
		{"a null", "null", nil, "secretRef.name must be set"},
		{"a text instead of a map", password, nil, "configurations.helmChartKeyring of Context vendor"},
		{"the Secret does not exist", "{secretRef: {name: none}}", nil, "secretRef: Secret none cannot be found"},
		{"the key does not exist", "{secretRef: {name: keys, key: other}}", nil, `has no key "other"`},
		{"an empty keyring", fromKeys, nil, "is empty"},
		{"no keyring", fromKeys, []byte(password), "holds no public keys of OpenPGP"},
		{"no keyring in armor", fromKeys, []byte("-----BEGIN " + password), "holds no public keys of OpenPGP"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, egress.Policy{AllowLoopback: true}, interceptor.Funcs{}, componentIn(s, archive), asking(t, s, test.setting, test.content)...)
			for _, source := range []*helmv1alpha1.Chart{ref(s.URL + "/oci/web:1.0.0"), inRepository(s.URL+"/charts", "web", "1.0.0"), remote(s.URL + "/web.tgz"), byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: blob}")} {
				s.asked()
				_, err := w.Load(t.Context(), item("team-a", "vendor"), source)
				if err == nil || !strings.Contains(err.Error(), test.want) || deployer.OutcomeOf(err) != deployer.OutcomeFinal || strings.Contains(err.Error(), password) {
					t.Errorf("got %v (%s), want %q", err, deployer.OutcomeOf(err), test.want)
				}
				if asked := s.asked(); len(asked) > 0 {
					t.Errorf("asked for %s", asked)
				}
			}
		})
	}
}

// TestSignedByGPG takes keyrings as gpg --export and gpg --armor --export have printed
// them, and what it has signed.
func TestSignedByGPG(t *testing.T) {
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join("testdata", "signed", name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	s := newShop(t)
	for _, name := range []string{"keyring", "keyring.asc"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, egress.Policy{AllowLoopback: true}, interceptor.Funcs{}, nil, asking(t, s, fromKeys, read(name))...)
			from, err := w.sources(t.Context(), item("team-a", "vendor"))
			if err != nil {
				t.Fatal(err)
			}
			trust, err := trustOf(t.Context(), from)
			if err != nil {
				t.Fatal(err)
			}
			archive := newPacked([]byte("archive"), "")
			archive.provenance = read("web.prov")
			if err := trust.verify(archive); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			other := newPacked([]byte("another"), "")
			other.provenance = archive.provenance
			if err := trust.verify(other); err == nil || err.Error() != "its provenance file is that of another archive" {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
