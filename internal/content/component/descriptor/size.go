package descriptor

import "reflect"

// Size estimates what a descriptor takes in memory: elements without content take a hundred times their
// text.
func (d *Descriptor) Size() int64 { return sizeOf(reflect.ValueOf(d)) }

func sizeOf(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.String:
		return itself(v) + int64(v.Len())
	case reflect.Slice:
		size := itself(v)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return size + int64(v.Len())
		}
		for i := range v.Len() {
			size += sizeOf(v.Index(i))
		}
		return size
	case reflect.Map:
		size := itself(v)
		for entries := v.MapRange(); entries.Next(); {
			size += sizeOf(entries.Key()) + sizeOf(entries.Value())
		}
		return size
	case reflect.Struct:
		size := int64(0)
		for i := range v.NumField() {
			size += sizeOf(v.Field(i))
		}
		return size
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return itself(v) + sizeOf(v.Elem())
		}
	}
	return itself(v)
}

// itself is what a value takes without what it refers to.
func itself(v reflect.Value) int64 {
	return int64(v.Type().Size()) //nolint:gosec // the size of a type is small
}
