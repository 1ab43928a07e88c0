package descriptor

import (
	"strings"
	"testing"
)

// TestDecodeCountsAliases reads a short text that stands for a very large one.
func TestDecodeCountsAliases(t *testing.T) {
	text := strings.TrimSuffix(strings.TrimSpace(minimal), "}") + ", labels: [{name: a, value: &a " + strings.Repeat("x", 1<<20) + "}, {name: b, value: [" + strings.Repeat("*a, ", 1000) + "]}]}"
	if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), "with its aliases") {
		t.Errorf("a descriptor of a gibibyte: %v", err)
	}
	exact := strings.TrimSuffix(strings.TrimSpace(minimal), "}") + ", labels: [{name: a, value: 123456789012345678901234567890}]}"
	if d, err := Decode([]byte(exact)); err != nil || string(d.Labels[0].Value) != "123456789012345678901234567890" {
		t.Errorf("numbers in YAML keep their digits as in JSON: %+v, %v", d, err)
	}
}

// FuzzDecode reads descriptors. What was read can be written in both schemas, and
// reads the same again.
func FuzzDecode(f *testing.F) {
	f.Add(full(f))
	f.Add([]byte(minimal))
	f.Add([]byte(thirdSchema))
	f.Add([]byte(strings.Replace(minimal, "me,", "&a me, labels: [{name: *a, value: {<<: {a: 1}}}],", 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Decode(data)
		if err != nil {
			return
		}
		for _, schema := range []string{d.Schema, SchemaV2, SchemaV3Alpha1} {
			writeAndRead(t, d.As(schema))
		}
		for i := range d.Resources {
			_, _ = d.Resource(IdentityOf(d.Resources[i], d.Resources))
		}
		for i := range d.References {
			_, _ = d.Reference(IdentityOf(d.References[i], d.References))
		}
		_, _ = d.Nested()
	})
}

func writeAndRead(t *testing.T, d *Descriptor) {
	encoded, err := d.Encode()
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	again, err := Decode(encoded)
	if err != nil {
		t.Fatalf("what was written cannot be read: %v\n%s", err, encoded)
	}
	if twice, err := again.Encode(); err != nil || string(twice) != string(encoded) {
		t.Fatalf("the second time differs (%v):\n%s\n%s", err, encoded, twice)
	}
}
