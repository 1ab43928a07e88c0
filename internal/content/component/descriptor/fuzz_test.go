package descriptor

import (
	"runtime"
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

// TestLargeDescriptors: a descriptor is refused before it has cost many times its
// length.
func TestLargeDescriptors(t *testing.T) {
	head := strings.TrimSuffix(strings.TrimSpace(minimal), "}")
	for _, test := range []struct{ reason, text, want string }{
		{"30 MiB of YAML in few values", head + ", labels: [{name: a, value: " + strings.Repeat("word ", 6<<20) + "}]}", "the text is longer than"},
		{"30 MiB of YAML in many lines", strings.Repeat("- a\n", 7_500_000), "the text is longer than"},
		{"8 MiB of YAML in many values", head + ", labels: [" + strings.Repeat("[a],", 2_000_000) + "]}", "values"},
		{"30 MiB of JSON in many objects", `{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/a","version":"1.0.0","provider":"p","resources":[{}` + strings.Repeat(",{}", 10_000_000) + `]}}`, "values"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			data := []byte(test.text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Decode(data)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d MiB were allocated for %d MiB", allocated>>20, len(data)>>20)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %.300v, want %q", err, test.want)
			}
			if allocated > 256<<20 {
				t.Errorf("%d MiB were allocated", allocated>>20)
			}
		})
	}
	// As large as it may be, and all of it is read.
	most := []byte(head + ", labels: [{name: a, value: [" + strings.Repeat("[x],", maxValues/2-100) + "]}]}")
	if _, err := Decode(most); err != nil {
		t.Errorf("%d bytes: %v", len(most), err)
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
