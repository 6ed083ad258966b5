//! Attributes of functions and calls.

use super::{Raw, Type, Value, bytes};
use crate::shim;
use core::ffi::c_uint;
use llvm_sys::core::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeIndex, LLVMAttributeReturnIndex};

/// Where an attribute stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Function,
    Result,
    /// Parameter by index.
    Param(u32),
}

impl Place {
    fn index(self) -> LLVMAttributeIndex {
        match self {
            Place::Function => LLVMAttributeFunctionIndex,
            Place::Result => LLVMAttributeReturnIndex,
            Place::Param(index) => index + 1,
        }
    }
}

/// Number of an attribute kind that LLVM 19 knows by this name.
fn attribute_kind(name: &str) -> c_uint {
    // SAFETY: pointer and length describe the string.
    let kind = unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
    debug_assert!(kind != 0, "no attribute {name}");
    kind
}

impl Value {
    /// Functions only: has it the attribute?
    pub fn has_attribute(self, place: Place, name: &str) -> bool {
        let kind = attribute_kind(name);
        // SAFETY: as the module's documentation says.
        !unsafe { LLVMGetEnumAttributeAtIndex(self.0, place.index(), kind) }.is_null()
    }

    /// Calls only: has the call the attribute, or the function that it names?
    pub fn call_has_attribute(self, place: Place, name: &str) -> bool {
        let kind = attribute_kind(name);
        // SAFETY: as the module's documentation says.
        let here = unsafe { LLVMGetCallSiteEnumAttribute(self.0, place.index(), kind) };
        !here.is_null()
            || self
                .callee()
                .as_function()
                .is_some_and(|f| f.has_attribute(place, name))
    }

    /// Calls only: may it return more than once?
    pub fn returns_twice(self) -> bool {
        self.call_has_attribute(Place::Function, "returns_twice")
    }

    /// Calls only: the type of a type attribute (`byval`, `elementtype`) of an argument.
    pub fn call_type_attribute(self, argument: u32, name: &str) -> Option<Type> {
        let kind = attribute_kind(name);
        // SAFETY: as the module's documentation says; a type attribute has a type.
        unsafe {
            let found = LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind);
            (!found.is_null()).then(|| Type::of(LLVMGetTypeAttributeValue(found)))
        }
    }

    /// Functions only: the type of a type attribute of a parameter.
    pub fn type_attribute(self, param: u32, name: &str) -> Option<Type> {
        let kind = attribute_kind(name);
        // SAFETY: as the module's documentation says; a type attribute has a type.
        unsafe {
            let found = LLVMGetEnumAttributeAtIndex(self.0, param + 1, kind);
            (!found.is_null()).then(|| Type::of(LLVMGetTypeAttributeValue(found)))
        }
    }

    /// Functions only: has it the attribute `name=value`?
    pub fn has_text_attribute(self, name: &str, value: &str) -> bool {
        let (key, length) = (name.as_ptr().cast(), name.len() as c_uint);
        let mut found_length = 0;
        // SAFETY: as the module's documentation says; the attribute has a text.
        let found = unsafe {
            let place = LLVMAttributeFunctionIndex;
            let found = LLVMGetStringAttributeAtIndex(self.0, place, key, length);
            if found.is_null() {
                return false;
            }
            LLVMGetStringAttributeValue(found, &mut found_length)
        };
        bytes(found, found_length as usize) == value.as_bytes()
    }

    /// Functions only: is it not declared to leave all memory alone?
    pub fn may_touch_memory(self) -> bool {
        // SAFETY: as the module's documentation says; the attribute has a number.
        unsafe {
            let place = LLVMAttributeFunctionIndex;
            let found = LLVMGetEnumAttributeAtIndex(self.0, place, attribute_kind("memory"));
            found.is_null() || LLVMGetEnumAttributeValue(found) != 0
        }
    }

    /// Functions only.
    pub fn add_attribute(self, place: Place, name: &str) {
        // SAFETY: as the module's documentation says.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(name), 0);
            LLVMAddAttributeAtIndex(self.0, place.index(), attribute);
        }
    }

    /// Calls only.
    pub fn add_call_attribute(self, place: Place, name: &str) {
        // SAFETY: as the module's documentation says.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(name), 0);
            LLVMAddCallSiteAttribute(self.0, place.index(), attribute);
        }
    }

    /// Functions only: gives or takes away an attribute of the passes' own.
    pub fn set_text_attribute(self, name: &str, value: Option<&str>) {
        let length = |text: &str| text.len() as u32;
        let place = LLVMAttributeFunctionIndex;
        let key = name.as_ptr().cast();
        // SAFETY: as the module's documentation says; pointers and lengths describe texts.
        unsafe {
            let Some(value) = value else {
                return LLVMRemoveStringAttributeAtIndex(self.0, place, key, length(name));
            };
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let text = value.as_ptr().cast();
            let attribute =
                LLVMCreateStringAttribute(context, key, length(name), text, length(value));
            LLVMAddAttributeAtIndex(self.0, place, attribute);
        }
    }

    /// Functions only.
    pub fn remove_attribute(self, place: Place, name: &str) {
        // SAFETY: as the module's documentation says; removing an absent one does nothing.
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, place.index(), attribute_kind(name)) }
    }

    /// Calls only.
    pub fn remove_call_attribute(self, place: Place, name: &str) {
        // SAFETY: as the module's documentation says; removing an absent one does nothing.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, place.index(), attribute_kind(name)) }
    }

    /// Calls only: the calling convention and the attributes of result and parameters of the
    /// function that is called.
    pub fn take_conventions(self, function: Value) {
        // SAFETY: as the module's documentation says.
        unsafe { shim::raddle_shim_take_conventions(self.0, function.0) }
    }
}
