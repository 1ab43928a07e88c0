package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/provenance"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// keyringKey is where the configurations of a Context say whose signatures count.
	keyringKey = "helmChartKeyring"
	// provenanceType is the media type of the layer with the signature of a chart.
	provenanceType = "application/vnd.cncf.helm.chart.provenance.v1.prov"
	// maxProvenance is how long the file with a signature may be.
	maxProvenance = 1 << 20
)

// trust are the keys whose signatures count for the charts of a Context. Without them, nothing is
// checked.
type trust struct {
	keys openpgp.EntityList
	// from names the Context and the Secret.
	from string
}

// trustOf reads whose signatures a Context requires; nil if it requires none.
func trustOf(ctx context.Context, from *repocontext.Sources) (*trust, error) {
	given, exists := from.Context.Configurations[keyringKey]
	if !exists {
		return nil, nil
	}
	at := fmt.Sprintf("configurations.%s of Context %s", keyringKey, from.Context.Name)
	fail := func(err error) (*trust, error) {
		return nil, job.Wrap(withCode(err), operation, reasons.ReadKeyring, at)
	}
	var config struct {
		SecretRef v1alpha1.LocalSecretReference `json:"secretRef"`
	}
	if err := yamltext.Unmarshal(given.RawMessage, yamltext.Lenient(), &config); err != nil {
		return fail(err)
	}
	if config.SecretRef.Name == "" {
		return fail(errors.New("secretRef.name must be set"))
	}
	if config.SecretRef.Key == "" {
		config.SecretRef.Key = "keyring"
	}
	content, err := from.Secret(ctx, config.SecretRef.Name, config.SecretRef.Key)
	if err != nil {
		return fail(fmt.Errorf("secretRef: %w", err))
	}
	keys, err := readKeyring(content)
	if err != nil {
		return fail(fmt.Errorf("key %s of Secret %s %w", config.SecretRef.Key, config.SecretRef.Name, err))
	}
	return &trust{keys: keys, from: fmt.Sprintf("%s (Secret %s)", at, config.SecretRef.Name)}, nil
}

// errNoKeys: what was given is no keyring.
var errNoKeys = errors.New("holds no public keys of OpenPGP: put there what gpg --export prints")

const (
	// maxKeyring is how many bytes all keys may have.
	maxKeyring = 256 << 10
	// maxPublicKey is how long one public key may be: RSA with 8192 bits has 1037 bytes, and the library
	// computes with keys of 65,536 bits, for two minutes each, without a way to interrupt it.
	maxPublicKey = 1100
)

// readKeyring reads public keys. Its error goes on after the name of the Secret.
func readKeyring(content []byte) (openpgp.EntityList, error) {
	content, err := plainKeyring(content)
	if err == nil {
		err = checkKeyring(content)
	}
	if err != nil {
		return nil, err
	}
	keys, err := openpgp.ReadKeyRing(bytes.NewReader(content))
	if err != nil || len(keys) == 0 {
		return nil, errNoKeys
	}
	return keys, nil
}

// plainKeyring removes the armour of a keyring.
func plainKeyring(content []byte) ([]byte, error) {
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("-----BEGIN")) {
		block, err := armor.Decode(bytes.NewReader(content))
		if err != nil {
			return nil, errNoKeys
		}
		if content, err = io.ReadAll(io.LimitReader(block.Body, maxKeyring+1)); err != nil {
			return nil, errNoKeys
		}
	}
	if len(content) > maxKeyring {
		return nil, fmt.Errorf("is longer than %d bytes: put only the keys there that sign charts", maxKeyring)
	}
	return content, nil
}

// checkKeyring refuses keys that it takes long to compute with: the library does so when it reads them.
func checkKeyring(content []byte) error {
	packets := packet.NewOpaqueReader(bytes.NewReader(content))
	for {
		next, err := packets.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errNoKeys
		}
		switch next.Tag {
		case publicKeyTag, publicSubkeyTag:
			if len(next.Contents) > maxPublicKey {
				return fmt.Errorf("has a key of %d bytes: use keys of at most 8192 bits", len(next.Contents))
			}
		case secretKeyTag, secretSubkeyTag:
			return errors.New("has a private key: put there what gpg --export prints")
		}
	}
}

// Packets of OpenPGP with keys, by RFC 9580.
const (
	secretKeyTag    = 5
	publicKeyTag    = 6
	secretSubkeyTag = 7
	publicSubkeyTag = 14
)

// verify checks that an archive has a signature of a trusted key.
func (t *trust) verify(archive *packed) error {
	if len(archive.provenance) == 0 {
		return fmt.Errorf("%s asks for signed charts, and there is no provenance file with the chart: sign it with helm package --sign and publish both", t.from)
	}
	block, _ := clearsign.Decode(archive.provenance)
	if block == nil {
		return errors.New("its provenance file has no signature")
	}
	if _, err := openpgp.CheckDetachedSignature(t.keys, bytes.NewReader(block.Bytes), block.ArmoredSignature.Body, nil); err != nil {
		return fmt.Errorf("its signature does not count: %w; the keys that count are in %s", err, t.from)
	}
	// Only what is signed is read.
	var sums provenance.SumCollection
	if err := provenance.ParseMessageBlock(block.Plaintext, nil, &sums); err != nil {
		return errors.New("its provenance file names no archive")
	}
	for _, sum := range sums.Files {
		if strings.EqualFold(sum, archive.digest.String()) {
			return nil
		}
	}
	return errors.New("its provenance file is that of another archive")
}

// asked checks that a signed chart is the requested one: the host of the archives cannot sign, but
// may serve an older one.
func (a *packed) asked(loaded *helmchart.Chart) error {
	if a.name != "" && loaded.Name() != a.name {
		return fmt.Errorf("it is chart %s, and %s was asked for", loaded.Name(), a.name)
	}
	wanted, err := semver.StrictNewVersion(strings.TrimPrefix(strings.ReplaceAll(a.version, "_", "+"), "v"))
	if err != nil {
		// It is a range, or no version at all.
		return nil //nolint:nilerr // see above
	}
	found, err := semver.NewVersion(loaded.Metadata.Version)
	if err != nil || !found.Equal(wanted) || found.Metadata() != wanted.Metadata() {
		return fmt.Errorf("it is version %s, and %s was asked for", loaded.Metadata.Version, a.version)
	}
	return nil
}
