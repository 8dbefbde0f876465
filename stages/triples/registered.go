package triples

import "reflect"

func beamTypeOf[T any]() reflect.Type { return reflect.TypeOf((*T)(nil)).Elem() }
