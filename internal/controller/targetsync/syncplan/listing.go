package syncplan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/base/pattern"
	"go.landscaper.dev/internal/cluster/login"
)

// What is listed of a source, of shoots and of Secrets.
var (
	ShootKind      = schema.GroupVersionKind{Group: "core.gardener.cloud", Version: "v1beta1", Kind: "Shoot"}
	ShootResource  = schema.GroupVersionResource{Group: "core.gardener.cloud", Version: "v1beta1", Resource: "shoots"}
	SecretKind     = corev1.SchemeGroupVersion.WithKind("Secret")
	SecretResource = corev1.SchemeGroupVersion.WithResource("secrets")
)

// CredentialKey is the key of the kubeconfig in all Secrets that are made here.
const CredentialKey = "kubeconfig"

// Item is a shoot or a Secret of the source.
type Item struct {
	Name, uid, Version string
	// Selected says that the expression fits the name.
	Selected bool
	// deleting says that the source is removing it.
	deleting bool
	// Shoot has the facts of a shoot, copied those of a Secret.
	Shoot  *Shoot
	Copied *copied
}

// Shoot has the facts of a shoot that a plan needs.
type Shoot struct {
	// reachable says that it has an address for its API server.
	reachable bool
	// Creating says that it is not complete for the first time.
	Creating bool
	// Hibernated says that the shoot is hibernated.
	Hibernated bool
	// authorities is the progress of the rotation of its certificate authorities. With each step,
	// older credentials may become invalid.
	authorities string
	// authoritiesDone is when such a rotation last ended.
	authoritiesDone time.Time
}

// Copied has the facts of a Secret that a plan needs.
type copied struct {
	Data map[string][]byte
	// hash identifies the data, also if there is a problem with it and it is not kept.
	hash string
	// problem says why it must not become a Target.
	problem error
}

// Names returns a function that reports whether an expression selects a name.
func Names(expression string) (func(string) bool, error) {
	switch expression {
	case "":
		return func(string) bool { return false }, nil
	case "*":
		expression = ".*"
	}
	compiled, err := pattern.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression to filter names: %w", err)
	}
	// Names have at most 253 bytes: each search is affordable.
	return compiled.MatchString, nil
}

// apiServers are the names of the advertised addresses for which a garden grants credentials.
// Addresses of other names belong to issuers of tokens, or to Ingresses and VirtualServices in
// front of a shoot.
var apiServers = []string{"external", "internal", "unmanaged", "wildcard-tls-seed-bound"}

// maxAuthorities is more than what a garden reports of a rotation; the text becomes an annotation.
const maxAuthorities = 200

// ReadShoot returns the facts of a shoot.
func ReadShoot(object *unstructured.Unstructured, selects func(string) bool) Item {
	read := newItem(object, selects)
	text := func(path ...string) string {
		found, _, _ := unstructured.NestedString(object.Object, path...) // a value of another type counts as missing
		return found
	}
	flag := func(path ...string) bool {
		found, _, _ := unstructured.NestedBool(object.Object, path...)
		return found
	}
	rotation := []string{"status", "credentials", "rotation", "certificateAuthorities"}
	done := text(append(rotation, "lastCompletionTime")...)
	read.Shoot = &Shoot{
		Hibernated:  flag("status", "hibernated") || flag("spec", "hibernation", "enabled"),
		Creating:    text("status", "lastOperation", "type") == "Create" && text("status", "lastOperation", "state") != "Succeeded",
		authorities: strings.Trim(text(append(rotation, "phase")...)+" "+done, " "),
	}
	// The stored text must equal the compared one: a character that was cut in two would not.
	read.Shoot.authorities = strings.ToValidUTF8(read.Shoot.authorities[:min(len(read.Shoot.authorities), maxAuthorities)], "")
	read.Shoot.authoritiesDone, _ = time.Parse(time.RFC3339, done)
	addresses, _, _ := unstructured.NestedSlice(object.Object, "status", "advertisedAddresses")
	for _, address := range addresses {
		fields, ok := address.(map[string]any)
		url, _ := fields["url"].(string)
		name, _ := fields["name"].(string)
		read.Shoot.reachable = read.Shoot.reachable || ok && url != "" && slices.Contains(apiServers, name)
	}
	return read
}

// readSecret returns the facts of a Secret. Only the name of a Secret that is not selected is kept.
func readSecret(object *unstructured.Unstructured, selects func(string) bool) (Item, error) {
	read := newItem(object, selects)
	if !read.Selected {
		return read, nil
	}
	secret := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, secret); err != nil {
		return Item{}, err
	}
	read.Copied = &copied{hash: hashOf(secret.Data)}
	if content, ok := secret.Data[CredentialKey]; !ok {
		read.Copied.problem = fmt.Errorf("the Secret has no key %s: put the kubeconfig of the cluster there", CredentialKey)
	} else {
		read.Copied.problem = login.CheckKubeconfig(content)
	}
	if read.Copied.problem == nil {
		read.Copied.Data = secret.Data
	}
	return read, nil
}

// maxCopied is how many bytes the Secrets of a source that are to be copied may have
// together: they are held in memory until the run has ended.
const maxCopied = 64 << 20

// ErrTooMuch says that the Secrets of a source are too large together.
var ErrTooMuch = fmt.Errorf("the Secrets that spec.secretNameExpression selects are larger than %d MiB together: select fewer of them", maxCopied>>20)

// Copies reads Secrets of a source, as long as they are not too large together.
type Copies struct {
	Selects func(string) bool
	size    int
}

// Read returns the facts of a Secret, or ErrTooMuch if the Secrets are too large together.
func (c *Copies) Read(object *unstructured.Unstructured) (Item, error) {
	read, err := readSecret(object, c.Selects)
	if err != nil || read.Copied == nil {
		return read, err
	}
	for key, value := range read.Copied.Data {
		c.size += len(key) + len(value)
	}
	if c.TooMuch() {
		return Item{}, ErrTooMuch
	}
	return read, nil
}

// TooMuch reports whether they are too large together.
func (c *Copies) TooMuch() bool { return c.size > maxCopied }

func newItem(object *unstructured.Unstructured, selects func(string) bool) Item {
	return Item{
		Name: object.GetName(), uid: string(object.GetUID()), Version: object.GetResourceVersion(),
		Selected: selects(object.GetName()), deleting: object.GetDeletionTimestamp() != nil,
	}
}

// hashOf identifies what a Secret holds.
func hashOf(data map[string][]byte) string {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(data); err != nil {
		panic(fmt.Sprintf("encode for a hash: %v", err)) // a map of bytes can always be encoded
	}
	return hex.EncodeToString(sum.Sum(nil))
}
